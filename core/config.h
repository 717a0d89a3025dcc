/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/idset.h"
#include "base/names.h"

#include <stdbool.h>
#include <stdint.h>

struct nicbook;

/* What the site decided, as the core needs it: numbers and sets, already parsed. Its defaults stand
 * in broker/config/keys.inc. */

enum { CLUSTERS_MAX = 64, PROFILES_MAX = 64, FM_URLS_MAX = 4, FM_URL_SIZE = 512 };

/* [vni] hold: there is no time limit for nodes that have reported nothing of a job. */
enum { HOLD_UNTIL_REPORTED = -1 };

/* [fm] reserve_timeout: by how long the fabric manager takes (fabric/reservewait.h). */
enum { RESERVE_TIMEOUT_AUTO = -1 };

/* [omnipath], for the jobs of all clusters on it. */
struct omnipath_config {
    struct idset pkeys;     /* to give to jobs, each without the bit of full membership; empty: none
                               is given */
    int64_t pkey_hold_ms;   /* how long one is not given again after its job was released */
    uint32_t service_level; /* 0: the provider's own */
    uint32_t contexts;      /* of a node, for tasks; 0: not known */
    char opx_hfi_select[256], psm3_nic[64]; /* "": the provider chooses */
};

struct cluster_config {
    char name[CLUSTER_NAME_MAX + 1];
    uint32_t budget;    /* multicast addresses that its jobs may hold together; 0: no limit but the
                           total (B4) */
    int interconnect;   /* enum interconnect_kind, of jobs that do not say */
    bool relay;         /* its jobs make multicast trees through this broker (B9) */
    bool plugin;        /* its Slurm gives VNIs itself, by its own plugin: none are of the pool */
    bool limit_refused; /* its Slurm's plugin is refused more addresses than a job gets here; else
                           it is given as many as a job gets */
    bool jobpoll;       /* it can be asked which of its jobs are active (F20, F22) */
    int64_t jobpoll_every_ms; /* and is, this often; 0: only after a start and a reconnect */
};

/* What a job gets that names the profile and does not say so itself (P3). */
struct profile_config {
    char name[PROFILE_NAME_MAX + 1];
    uint64_t clusters;  /* bit i: jobs of cluster i may name it */
    int vni_count;      /* -1: as the site says */
    int interconnect;   /* enum interconnect_kind; -1: as the cluster's */
    int wish;           /* enum hwcoll_wish; 0: as the site says */
    uint32_t classes;   /* enum traffic_class bits; 0: as the site says */
    uint32_t addresses; /* 0: as the site says */
};

struct core_config {
    struct idset vni_pool;  /* F1; 1 and 10 are never given out, whatever it says */
    uint32_t vni_per_job;   /* 0–4, when a job does not say (F2) */
    bool vni_single_node;   /* single-node jobs get VNIs too (F2) */
    bool vni_required;      /* a job that cannot have its VNIs fails (F4) */
    char vni_partition[64]; /* the fabric's partition whose VNIs the pool is of (B2) */
    uint32_t shared_max, shared_per_user; /* shared VNIs: of all, and of one user (B1) */
    int64_t vni_hold_ms; /* how long nodes that have reported nothing keep a released VNI
                            quarantined (F3); or HOLD_UNTIL_REPORTED */

    uint32_t classes_default; /* enum traffic_class bits, when a job does not say (F12) */
    uint32_t classes_allowed; /* what a job may ask for */

    struct omnipath_config omnipath;

    uint32_t min_nodes;         /* 0: only jobs that ask (F14) */
    uint32_t addresses_per_job; /* 0: auto, see sizing.h (F15) */
    uint32_t total_addresses;   /* M; 0: not known, no limit of our own */
    uint32_t system_nodes;      /* S */
    uint32_t sharing;           /* j */

    bool fm_present;            /* a fabric manager is configured at all */
    int64_t reserve_timeout_ms; /* an answer waits no longer (F21); or RESERVE_TIMEOUT_AUTO */
    int64_t relay_timeout_ms;   /* the same for a reserve behind a relayed job, and for its joins */
    int64_t call_timeout_ms; /* of one call; also how long a call given up may still be acted on */
    uint32_t calls_at_once;  /* calls under way at the fabric manager */
    int64_t relist_ms;       /* while up, compare with the fabric manager this often; 0: never */
    int64_t stray_grace_ms;  /* between the two answers before something at the fabric manager is
                                taken for lost, or a stray is deleted */
    /* When more of the reservations than this are missing at the fabric manager, and at least so
     * many, none is declared lost and no stray is deleted (B11). */
    uint32_t mass_loss_percent, mass_loss_min;
    int64_t link_retry_ms; /* first wait before logging in again; doubles to 32 times it */

    int64_t cleanup_timeout_ms; /* a step's trees that could not be removed for so long stay until
                                   the job ends (F19) */
    bool cleanup_login; /* where the job's token opens neither job nor trees, the broker's login may
                           be used */

    int64_t sync_grace_ms; /* between the two syncs that lack a job before it is released */
    uint32_t sync_lot;     /* how many reservations one step compares with a sync */
    int64_t tombstone_ms;  /* how long a release of an unknown job is remembered */
    uint32_t events_keep;  /* for replay (F24); more are dropped, in lots, */
    int64_t events_age_ms; /* and so are older ones; 0: however old */

    int64_t
        traffic_keep_ms;   /* how long what nodes counted for a job is kept after it (P6); 0: not */
    uint32_t traffic_jobs; /* of at most so many jobs */

    const struct nicbook *nics; /* what the site's file tells of nodes; NULL: there is none.
                                   Borrowed until the next configuration */

    int trace_level; /* traces above it (syslog's levels) are not even written */

    /* Base URLs without trailing slash, tried in turn: active and standby of one fabric. The one in
     * use is handed to jobs, unless there is one for them. */
    char fm_urls[FM_URLS_MAX][FM_URL_SIZE];
    uint32_t fm_url_count;
    char job_url[FM_URL_SIZE]; /* what jobs are told instead; "": nothing */
    char job_ca[512];          /* "yes", "no" or a path: FI_CXI_COLL_FABRIC_MGR_CACERT */
    char relay_url[FM_URL_SIZE], relay_ca[512]; /* the same of jobs that are relayed */

    struct cluster_config clusters[CLUSTERS_MAX];
    uint32_t cluster_count;
    struct profile_config profiles[PROFILES_MAX];
    uint32_t profile_count;
};

/* Whether the values fit together: sizing is possible, pool holds a job's VNIs, names valid and
 * unique. 0 or ERROR_INVALID with a sentence that says what is impossible and what would do. */
int core_config_check(const struct core_config *config, struct error *err);

/* That there is no cluster of this name, and which there are. */
enum { NO_CLUSTER_SIZE = 320 };
const char *core_config_no_cluster(const struct core_config *config, const char *cluster,
                                   char out[NO_CLUSTER_SIZE]);
