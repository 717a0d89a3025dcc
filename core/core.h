/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reconcile/alarm.h"
#include "core/config.h"
#include "core/effect.h"
#include "core/fabric/fmcall.h"
#include "core/inventory/fabricmap.h"
#include "core/reservation/nodeset.h"
#include "core/reservation/partitions.h"
#include "core/reservation/record.h"
#include "core/inventory/traffic.h"
#include "core/reservation/sharedvnis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The decisions of the broker: one event and the time in, state changed, effects out. Opens
 * nothing, reads no clock, draws nothing at random, waits for nothing (docs/architecture.md). Not
 * thread-safe. */

struct core;

/* A request to reserve. Strings are borrowed for the step. */
struct reserve_request {
    const char *cluster;
    const char *job;
    const char *nodes;   /* node list as given; NULL when only a number was given */
    uint32_t node_count; /* ≥ 1; 0 by a plugin */
    uint32_t uid;
    uint32_t cores_per_node;        /* 0: not given */
    uint32_t tasks_per_node;        /* 0: not given */
    uint32_t cpus_per_task;         /* 0: not given */
    int interconnect;               /* enum interconnect_kind; -1: not given: as the cluster's */
    int vni_count;                  /* 0–4; -1: not given */
    uint16_t vnis[VNI_PER_JOB_MAX]; /* that the job has already, since another than this broker gave
                                       them: these vni_count, and no others (F1); with */
    bool vnis_named;
    const char *profile; /* what the request leaves open is this profile's (P3); or NULL */
    const char *shared[SHARED_VNIS_PER_JOB_MAX]; /* names of shared VNIs that it wants, too (B1) */
    unsigned shared_count;
    enum hwcoll_wish wish;   /* 0: not given: auto */
    uint8_t traffic_classes; /* bits; 0: not given: as the site says */
    bool launch;             /* a launch document is to be made of it */
    bool by_plugin; /* Slurm's own plugin asks, as it would ask the fabric manager (B9): of the job
                       it tells nothing but its name and how many addresses it is to have */
    uint32_t
        limit; /* by a plugin, and in the core by the profile: that many; 0: as the site says */
    struct secret key; /* JOB_KEY_LENGTH digits, drawn at random for this very request: the
                          core draws nothing. For an interconnect whose jobs have a key */
};

/* A shared VNI is to be made, or changed (B1). Strings are borrowed for the step. */
struct share_request {
    const char *name;     /* shared_name_valid */
    const char *users;    /* shared_users_valid */
    const char *clusters; /* shared_clusters_valid */
    uint32_t uid;         /* its owner to be */
    bool admin;           /* an administrator asks: he may change those of others, whose owner
                             stays, and is bound by the sum only */
    int64_t expires_ms;   /* 0: never */
};

enum core_event_kind {
    CORE_TICK,       /* time has passed; due when core_next_deadline says so, harmless otherwise */
    CORE_RESERVE,    /* u.reserve; answered once */
    CORE_RELEASE,    /* u.release; answered once */
    CORE_LAUNCH,     /* u.launch: a launch document is to be made of it; answered once */
    CORE_SYNC,       /* u.sync; answered once, when all of it has come and was compared */
    CORE_LOGIN_DONE, /* u.login */
    CORE_LIST_NAMES, /* u.names: some of a list under way */
    CORE_LIST_DONE,  /* u.list_done: its end; only FM_OK means that it was whole */
    CORE_CALL_DONE,  /* u.call: exactly once for each EFFECT_CALL, whatever happens */
    CORE_JOBPOLL_DONE, /* u.jobpoll: exactly once for each EFFECT_JOBPOLL, but for `more` */
    CORE_NODE_REPORT,  /* u.report; answered once */
    CORE_NODE_SUM,     /* u.sum; answered once */
    CORE_FENCE,        /* u.fence; answered once */
    CORE_NODE_BOOT,    /* u.boot; answered once */
    CORE_ACCEPT_LOSS,  /* an administrator says that what is missing is lost; answered once */
    CORE_CLAIM,        /* u.claim; answered once */
    CORE_CLEANUP,      /* u.cleanup; answered once */
    CORE_STEPS,        /* u.steps; answered once */
    CORE_JOIN,         /* u.join; answered once */
    CORE_LEAVE,        /* u.leave; answered once */
    CORE_ALIVE,        /* u.alive: its job's step manager has looked at it; not answered */
    CORE_NODE_NICS,    /* u.nics; answered once */
    CORE_FORGET_NICS,  /* u.nics.node: an administrator says that it is no more; answered once */
    CORE_PARTITIONS, /* u.partitions: the fabric manager has told all of them, in one whole answer:
                        after each such answer, also when it says the same. See
                        core_partitions_open */
    CORE_SHARE,      /* u.share; answered once */
    CORE_UNSHARE,    /* u.unshare; answered once */
    CORE_FABRIC,     /* u.fabric: switches, cables or ports have changed (P5) */
    CORE_CONFIGURE,  /* u.config, already checked: replaces the configuration (F5) */
    CORE_PROBE,      /* a user looks for faults: the fabric manager is asked for its list, unless
                        it has answered lately; not answered */
};

struct core_event {
    enum core_event_kind kind;
    uint64_t ticket; /* the caller's mark for the answer; of what is answered, else 0 */
    int64_t now_ms;  /* Unix time that never runs backwards within the life of a process */
    union {
        struct reserve_request reserve;
        struct {
            const char *cluster;
            const char *job;
            uint64_t number; /* of the life that is meant; 0: the one that has the name now */
            bool by_plugin;  /* Slurm's own plugin asks: of what it has reserved, or of what was
                                found under the name of its cluster */
        } release;
        struct {
            const char *cluster;
            const char *job;
        } launch;
        struct {
            const char *cluster;
            const char *const *active;
            size_t count;
            bool more; /* the rest follows, under the same ticket: not answered before */
        } sync;
        struct {
            bool ok;
            const char *words; /* why not */
        } login;
        struct {
            uint64_t list;
            const char *const *names;
            size_t count;
        } names;
        struct {
            uint64_t list;
            enum fmcall_outcome outcome;
            const char *words;
        } list_done;
        struct {
            uint64_t id;
            enum fmcall_outcome outcome;
            struct secret token; /* with FM_OK of RESERVE, perhaps of CHECK; else none */
            const struct fmcall_steps *steps; /* with FM_OK of STEPS; else NULL */
            const struct fmcall_tree *tree;   /* with FM_OK of JOIN; else NULL */
            int status;                       /* HTTP's, with FM_DENIED of JOIN; else 0 */
            int64_t took_ms;   /* without what the ledger's disk took before it; 0: not known */
            const char *words; /* never holds a secret */
        } call;
        struct {
            uint64_t id;
            bool ok; /* the list is whole */
            const char *const *active;
            size_t count;
            const char *words; /* why it is not */
            bool more;         /* and the rest of it follows */
        } jobpoll;
        struct {
            const char *cluster;
            const char *job;
            uint64_t number; /* of the reservation: which life of the job is meant */
            const char *node;
            enum node_state state; /* not FENCED */
            const char *services;  /* node_services_valid, or NULL */
            uint64_t order; /* what the node reported with a lower one is older; 0: not given */
            const uint16_t *vnis;                 /* of the services, as the node knows them */
            unsigned vni_count;                   /* at most VNI_PER_JOB_MAX; 0: not given */
            const struct traffic_report *traffic; /* of the job on this node; or NULL */
        } report;
        struct {
            const char *cluster;
            const char *job;
            uint64_t number;       /* of the reservation: which life of the job is meant */
            const char *nodes;     /* as nodelist_count takes it: all of them nodes of the job */
            enum node_state state; /* DESTROYED or LINGERING */
            const struct traffic_record *traffic; /* what they counted together: `told` of these
                                                     nodes; or NULL */
        } sum; /* a report of many nodes at once, by who acts for their cluster */
        struct {
            const char *node; /* node_name_valid; it has booted: no CXI service of before exists */
            uint64_t order;   /* what the node reported with a lower one is from before the boot */
            const char *const *clusters; /* whose node it is, NULL-terminated; NULL: of all */
            int64_t uptime_ms;           /* since the boot, when the node told it */
            int64_t booted_ms;           /* when that was, by the node's clock; 0: not told */
        } boot;
        struct {
            const char *node; /* node_name_valid */
            const char *nics; /* nodenics_valid: all that it has now */
            uint64_t order;   /* what the node told with a lower one is older; from 1 */
        } nics;
        struct {
            const char *cluster; /* an administrator says that no other broker uses its name */
        } claim;
        struct {
            const char *node;   /* node_name_valid */
            const char *reason; /* words, or NULL */
        } fence;
        struct {
            uint64_t number;           /* of the reservation: the bearer of its token asks */
            const char *step;          /* steppath_valid */
            bool below;                /* all steps below it too */
            const char *const *scopes; /* it must be within each of them (steppath_within) */
            size_t scope_count;
            int64_t wait_ms; /* for the trees to be gone; 0: answered as soon as it is on disk */
        } cleanup;
        struct {
            const char *cluster;
            const char *job;
            int64_t wait_ms;
        } steps;
        struct {
            uint64_t number;           /* of the reservation: the bearer of its token asks */
            const char *step;          /* step_id_valid */
            const char *const *scopes; /* it must be within each of them (steppath_within) */
            size_t scope_count;
            uint16_t vni;
            const char *body; /* what the fabric manager is sent: JSON, checked where it came in */
        } join;
        struct {
            uint64_t number;
            uint16_t tree; /* below FMCALL_TREES */
            const char *const *scopes;
            size_t scope_count;
        } leave;
        uint64_t alive; /* number of the reservation */
        struct {
            const struct partition *all; /* at most PARTITIONS_MAX count; the site's own, too */
            size_t count;
        } partitions;
        struct share_request share;
        struct {
            const char *name; /* who asks may remove it */
            bool when_unused; /* closed now, removed when no job has it; else refused while one has
                               */
        } unshare;
        struct {
            const struct fabricmap *map; /* as it is now */
            const struct fabric_change *changes;
            size_t count;
            const struct fabric_sum *sum; /* what is not among the changes */
        } fabric;
        const struct core_config *config;
    } u;
};

/* Copies the config. Never NULL: without memory the process ends (memory.h). */
struct core *core_create(const struct core_config *config);
void core_destroy(struct core *core); /* NULL is allowed; wipes tokens */

/* Replays one record from the disk, in the store's order; the store has seen to the ranges of its
 * fields. 0, or ERROR_CORRUPT with a sentence that names the record. Only before core_start. */
int core_load(struct core *core, const struct record *record, struct error *err);

/* Which boot of the host this is ("": not known), and Unix time less the time since then. Only
 * before core_start, which by this knows whether times in the ledger can be compared with now. */
void core_set_clock(struct core *core, const char *boot, int64_t offset_ms);

/* Everything is loaded: do the reservations fit each other? What is saved by a core always does. 0,
 * or ERROR_CORRUPT with a sentence that names two of them; then core_start may not be called. */
int core_check_load(struct core *core, struct error *err);

/* Resumes what a crash left open and begins to log in to the fabric manager. */
void core_start(struct core *core, int64_t now_ms);

/* One step. Its effects, and those of core_start, are read with core_effects. */
void core_step(struct core *core, const struct core_event *event);
const struct effect *core_effects(const struct core *core, size_t *count);

/* When a CORE_TICK is due, or INT64_MAX. Now, as long as there is more of something long to do than
 * one step should take. */
int64_t core_next_deadline(const struct core *core);

/* ---- the read-only view: view.c; core_quarantine_end and core_pkey_end: quarantine.c ---- */

enum link_state { LINK_DOWN, LINK_LOGGING_IN, LINK_LISTING, LINK_UP };
const char *link_state_word(enum link_state state); /* "down", "logging-in", "listing", "up" */

/* Reservations of a cluster or of all, and what they have, or may have, at the fabric manager. */
struct core_use {
    uint64_t addresses; /* asked for and not yet known to be given back */
    uint64_t leaving;   /* of these, no longer wanted: to be released */
    uint64_t releases;  /* reservations that the fabric manager has still to give up */
    uint64_t jobs_active, jobs_releasing, jobs_reserved;
    uint64_t jobs_adopted; /* active, found at the fabric manager: their VNIs are not known */
    uint64_t jobs_found;   /* of the adopted ones: ORIGIN_FOUND */
    uint64_t found;        /* ORIGIN_FOUND, active or not, and still at the fabric manager */
    uint64_t vnis_live, vnis_held; /* of active, and of released jobs; without shared ones */
};

struct core_cleanups {
    uint64_t pending;        /* asked for and not yet done */
    uint64_t done, given_up; /* since the start */
};

/* What nodes have told of their traffic since the start (P6). */
struct core_traffic_sums {
    uint64_t amounts[TRAFFIC_KINDS];
    uint64_t reports; /* of nodes, */
    uint64_t unclear; /* and of their NICs those that are not in it: a counter went back */
};

struct core_status {
    enum link_state link;
    int64_t link_since_ms;   /* since when it is up, or is not */
    int64_t link_listed_ms;  /* last whole list since the start; 0: none */
    int64_t link_heard_ms;   /* when it answered anything last; 0: not yet */
    bool link_probed;        /* up, and it is being asked for its list */
    uint64_t link_losses;    /* since the start */
    const char *link_url;    /* base URL in use, or to be tried next; "" when there is none */
    const char *link_error;  /* last trouble in words; "" when none since it came up */
    const char *link_cause;  /* the same without the fabric manager's own words, as of the two
                                below; "" likewise */
    const char *link_advice; /* what to do, while it is not up because of that; else "" */
    const char *list_error;  /* while it is up: why the last list was not whole; "": it was */
    const char *list_cause;
    uint32_t reserves_failed;    /* in a row, while it is up, */
    int64_t reserves_failing_ms; /* since when, */
    const char *reserve_error;   /* and why; 0 and "": none did */
    const char *reserve_cause;
    int64_t reserve_took_ms; /* the longest lately (fabric/reservewait.h); -1: not known */
    int64_t reserve_wait_ms; /* for how long at most a lone job that starts now waits for it */
    uint32_t vnis_free, vnis_live, vnis_in_quarantine, vnis_pool;
    uint32_t vnis_foreign; /* of the pool, in other partitions: not given out (B2) */
    uint32_t
        vnis_foreign_used; /* live or quarantined, and in other partitions; of the pool or not */
    uint32_t vnis_shared;  /* shared VNIs; live, or quarantined as others are */
    uint32_t vnis_suspect; /* perhaps in use by jobs that the ledger does not know */
    int64_t vnis_none_ms;  /* since when none is free; 0: some are */
    uint32_t vnis_held_most, pkeys_held_most; /* that released jobs of one user hold, */
    uint32_t vnis_held_most_uid;              /* this one's; UID_UNKNOWN: of none */
    uint64_t vnis_refused, pkeys_refused;     /* reserves, because of that; since the start */
    uint32_t pkeys_free, pkeys_pool;          /* partition keys */
    uint32_t pkeys_taken;       /* by jobs, or held after them; perhaps not of the pool any more */
    uint32_t addresses_total;   /* 0: not known */
    uint32_t addresses_per_job; /* 0: none can be computed */
    int64_t addresses_full_ms;  /* since when one more such job finds too few; 0: it does not */
    struct core_use use;        /* of all clusters */
    int64_t nodes_waited_ms;  /* when the first of those jobs was released whose nodes have not all
                                 reported; 0: there is none among the oldest reservations */
    uint64_t nodes_lingering; /* reports of services that cannot be destroyed */
    uint64_t vnis_overdue; /* of those quarantined: their time is over, but a node has reported that
                              it cannot destroy services: until it is clean or fenced */
    uint64_t vnis_unconfirmed; /* VNIs given back by time, not all nodes having reported that they
                                  are clean although some had reported anything; since the start */
    uint32_t strays; /* seen at the fabric manager, not ours by the ledger, not yet deleted */
    uint32_t calls_queued_reserve, calls_queued_release, calls_queued_check, calls_queued_cleanup;
    uint32_t calls_in_flight;
    struct core_cleanups cleanups;
    struct core_traffic_sums traffic;
    uint64_t last_number, first_seq, last_seq; /* events kept: first_seq–last_seq */
};
void core_status(const struct core *core, struct core_status *out);

/* One configured cluster, index 0 to cluster_count - 1; false beyond. Texts are valid until the
 * next step. */
struct core_cluster_status {
    const char *name;
    uint32_t budget; /* 0: none of its own */
    struct core_use use;
    uint64_t
        published[EVENT_KIND_COUNT]; /* events about its jobs since the start, by enum event_kind */
    int64_t synced_ms;               /* last sync since the start; 0: none */
    bool jobpoll;
    int64_t jobpoll_ms;         /* last whole job list poll since the start; 0: none */
    uint64_t jobpoll_failures;  /* since the start */
    const char *jobpoll_error;  /* why the last one failed; "" when it did not, */
    int64_t jobpoll_failing_ms; /* and since when they do */
    const char *name_conflict;  /* a name at the fabric manager whose owner, if it is Slurm, deletes
                               this cluster's reservations; "" when none was seen */
};
bool core_cluster_status(const struct core *core, uint32_t index, struct core_cluster_status *out);

/* What an administrator has to see to: the alarm that was raised first; NULL: none is on. Valid
 * until the next step, as are those behind it. */
const struct alarm *core_alarms(const struct core *core);

/* The fabric manager's base URL in use, as jobs are told it; "" when there is none. */
const char *core_fm_url(const struct core *core);

const struct core_config *core_config_of(const struct core *core);

/* What a job of a cluster may ask for, and gets when it does not say (P3): a reserve decides by the
 * same. Without an interconnect of its own in the request: VNIs, classes and addresses are of
 * Slingshot only. False: there is no such cluster. */
struct core_options {
    int interconnect; /* enum interconnect_kind, when a job does not say */
    bool relay;       /* its jobs make their trees through this broker */
    uint32_t vnis, vnis_single_node, vnis_max;
    uint32_t classes, classes_allowed;
    bool hwcoll;          /* addresses can be had, so that they can be required; */
    struct error without; /* … else why not */
    uint32_t addresses;   /* of a job; 0: see without */
    uint32_t min_nodes;   /* 0: only jobs that ask */
    uint32_t budget;      /* of the cluster's jobs together; 0: no limit but total */
    uint32_t total;       /* of the fabric; 0: not known */
};
bool core_options(const struct core *core, const char *cluster, struct core_options *out);

/* The profiles that jobs of a cluster may name, by index from 0; NULL: no more. Valid until the
 * next step. */
const struct profile_config *core_profile(const struct core *core, const char *cluster,
                                          uint32_t index);

/* The newest reservation of a job, active or releasing; NULL: none. Valid until the next step. */
const struct reservation *core_find(const struct core *core, const char *cluster, const char *job);

/* For which nodes a released job's VNIs are quarantined (F3). */
enum { WAITING_EACH_MAX = 20, WAITING_NAMES_MAX = 2 * WAITING_EACH_MAX };
struct core_waiting {
    uint32_t count; /* nodes that have not reported that they are clean; 0: nothing is waited for */
    uint32_t unheard;   /* of these, have reported nothing at all */
    uint32_t lingering; /* of these, have reported that services cannot be destroyed */
    uint32_t created;   /* of these, have only reported that services were made */
    /* The first of those that have reported, as strverscmp orders them, at most WAITING_EACH_MAX of
     * each kind: lingering, then created. */
    uint32_t named, named_lingering;
    const char *names[WAITING_NAMES_MAX];    /* valid until the next step, */
    const char *services[WAITING_NAMES_MAX]; /* these too; NULL: it did not tell which */
};
void core_waiting(const struct reservation *reservation, struct core_waiting *out);

/* Whether a launch document may be given out for an active reservation: its nodes do not report
 * then that they have made services, so each of its list counts as one that may have some (I1).
 * The core is told before (CORE_LAUNCH, or with the reserve), and what that saves is durable before
 * the document leaves. */
enum launch_verdict {
    LAUNCH_ALLOWED,
    LAUNCH_NEVER,         /* for no reservation: [vni] hold is a time, which would free its VNIs */
    LAUNCH_UNBOUND,       /* released, or without an owner or a node list to bind it to */
    LAUNCH_EARLIER_START, /* nodes have reported of it, which would count for this start, too */
    LAUNCH_UNSAVED,       /* that one may be out is not saved: CORE_LAUNCH comes first */
};
/* reservation: NULL: whether for any. */
enum launch_verdict core_judge_launch(const struct core *core,
                                      const struct reservation *reservation);

/* Until when nodes that have reported nothing keep a released job's VNIs quarantined; INT64_MAX:
 * until they have ([vni] hold = reports). */
int64_t core_quarantine_end(const struct core *core, const struct reservation *reservation);

/* Until when a released job's partition key is not given again; INT64_MAX: none is held. */
int64_t core_pkey_end(const struct core *core, const struct reservation *reservation);

/* Those of them that have reported nothing; without any when the job named no nodes, or nothing is
 * waited for. Reads a name for each of the job's nodes, so it is asked for only where there are not
 * too many. */
void core_silent_nodes(const struct reservation *reservation, struct nodefold *out);

/* Shared VNIs, in the order in which they were made; by name, of those that are not removed. NULL:
 * none. Valid until the next step. */
const struct shared_vni *core_shared(const struct core *core);
const struct shared_vni *core_find_shared(const struct core *core, const char *name);

/* What is known of other partitions; index 0 to …; false beyond. Texts are valid until the next
 * step. */
struct core_partition {
    const char *name;
    uint32_t vnis, pooled; /* how many it has, and of these in [vni] pool */
};
bool core_partition(const struct core *core, size_t index, struct core_partition *out);
/* Whether an answer was doubted, or lacked what an earlier one had, or config.vni_partition has
 * changed since: another one is wanted when config.stray_grace_ms is over. */
bool core_partitions_open(const struct core *core);
/* The first job, of the oldest few thousand reservations, that has a VNI of another partition;
 * NULL: none. */
const struct reservation *core_foreign_user(const struct core *core);

/* A node on which services of a job cannot be destroyed: the first by name of the oldest such
 * reservation; NULL: none, or of none among the oldest few thousand reservations. Valid until the
 * next step. */
const char *core_lingering_node(const struct core *core);

/* How a reservation may concern a node: by the node list that it named; or it named none, and then
 * the node has reported services of it, or it may run anywhere. */
enum core_presence { PRESENCE_NONE, PRESENCE_NAMED, PRESENCE_REPORTED, PRESENCE_POSSIBLE };
enum core_presence core_presence(const struct reservation *reservation, const char *node);

/* One page of reservations in ascending number, those after `after` that match. What it reads is
 * bounded, reservations and node lists, so a page may be short although there is more. */
struct core_filter {
    const char *cluster; /* NULL: any */
    const char *node;    /* node_name_valid; those whose presence there is not NONE. NULL: any */
    int state;           /* enum job_state, 0: any */
    int64_t uid;         /* -1: any */
    uint64_t after;
    size_t limit; /* 1–1000 */
    bool silent;  /* with node: released, named by it, and its VNIs wait for this node, which has
                     reported nothing of it */
};
/* Calls each for every match; returns the number to go on after, or 0 when there is no more. */
uint64_t core_page(const struct core *core, const struct core_filter *filter,
                   void (*each)(void *arg, const struct reservation *reservation), void *arg);

/* Of the oldest event that is kept, one more than the last when there is none, and of the last one
 * ever: as in core_status, without all the rest. */
uint64_t core_first_seq(const struct core *core);
uint64_t core_last_seq(const struct core *core);

/* What the nodes of a job have counted (P6): of its newest reservation, which is in *reservation,
 * or of one that is over and still kept (reservation NULL). NULL: nothing is known; *reservation
 * may be set: no node has told anything yet. Valid until the next step. */
const struct traffic_record *core_traffic(const struct core *core, const char *cluster,
                                          const char *job, const struct reservation **reservation);
/* The same of one reservation. */
const struct traffic_record *core_traffic_of(const struct reservation *reservation);

/* What a node has told of its NICs, or NULL. Valid until the next step, as is the next one by name
 * (strcmp): node "": the first; NULL: there are no more. inventory/nodenics.h reads the text. */
const struct nodenics *core_node_nics(const struct core *core, const char *node);
const struct nodenics *core_node_nics_after(const struct core *core, const char *node);

/* The event of a sequence number, or NULL when it is not kept. */
const struct event_record *core_event_at(const struct core *core, uint64_t seq);
