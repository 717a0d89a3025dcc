/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/secret.h"

#include <stdbool.h>
#include <stdint.h>

/* What is kept on disk: the core writes these, the store keeps them, and at start the core reads
 * them back. Strings and numbers only; no pointer here outlives the call it is passed to. */

enum { VNI_PER_JOB_MAX = 4 };

/* Owner of what a new ledger found at the fabric manager: no user's uid, so that no user can read
 * it. */
#define UID_UNKNOWN UINT32_MAX

/* What connects a job's nodes (core/interconnect/). */
enum interconnect_kind {
    INTERCONNECT_SLINGSHOT = 0,
    INTERCONNECT_OMNIPATH = 1,
    INTERCONNECT_NONE = 2,
    INTERCONNECT_COUNT
};

enum {
    JOB_KEY_LENGTH = 32,       /* of 128 random bits in hexadecimal digits */
    PKEY_FULL_MEMBER = 0x8000, /* of a partition: those without it cannot reach each other */
};

enum job_state {
    JOB_ACTIVE = 1,
    JOB_RELEASING = 2, /* released; VNIs quarantined, or the fabric manager not yet clean */
};

/* What the job asked for (F14). */
enum hwcoll_wish {
    WISH_AUTO = 1, /* if the job is large enough */
    WISH_ON = 2,   /* asked for; the job runs without when it cannot be had */
    WISH_OFF = 3,
    WISH_REQUIRED = 4, /* the reserve fails when it cannot be had */
};

/* What became of it: `hwcoll.state` in openapi.json. */
enum hwcoll_state {
    HWCOLL_OFF = 1,
    HWCOLL_INELIGIBLE = 2,
    HWCOLL_WANTED =
        3, /* the intent is saved, the answer not yet known; shown of relayed jobs only */
    HWCOLL_RESERVED = 4,
    HWCOLL_DENIED = 5,
    HWCOLL_TIMEOUT = 6,
    HWCOLL_UNAVAILABLE = 7,
    HWCOLL_LOST = 8,
    HWCOLL_RELEASED = 9,
};

/* What the fabric manager may hold under the job's name because of this reservation. */
enum fm_side {
    FM_SIDE_NOTHING = 0,
    FM_SIDE_MAYBE = 1, /* it was asked, or is about to be: the intent */
    FM_SIDE_THERE = 2, /* it said yes, and no earlier try is open */
};

/* Bits of SLINGSHOT_TCS (F12). */
enum traffic_class {
    TC_DEDICATED_ACCESS = 1,
    TC_LOW_LATENCY = 2,
    TC_BULK_DATA = 4,
    TC_BEST_EFFORT = 8,
    TC_ALL = 15,
};

/* What a node says of the CXI services of a job (F3). */
enum node_state {
    NODE_CREATED = 1,   /* services for the job exist there */
    NODE_DESTROYED = 2, /* none is left */
    NODE_LINGERING = 3, /* some could not be destroyed yet */
    NODE_FENCED = 4,    /* declared clean by an administrator */
};

enum { NODE_SERVICES_MAX = 400 };

struct node_record {
    uint64_t number; /* of the reservation; it is over when that is */
    const char *node;
    const char *services; /* "cxi0:12,cxi1:7", or NULL */
    uint64_t order; /* of what the node says of this reservation, later is more; 0: not given */
    uint32_t sums;  /* the last sum before it; 0: there was none */
    uint8_t state;  /* enum node_state */
};

/* A sum: what is said of many nodes at once, by who acts for their cluster. One that comes later
 * than what a node itself said counts for the node, too, but for "lingering". */
struct sum_record {
    uint64_t number;   /* of the reservation; it is over when that is */
    const char *nodes; /* node list as given */
    uint32_t sum;      /* 1, 2, 3, … of this reservation */
    uint8_t state;     /* NODE_DESTROYED or NODE_LINGERING */
};

/* A step whose trees are to be removed (F19). */
struct cleanup_record {
    uint64_t number;    /* of the reservation; it is over when that is */
    const char *step;   /* steppath_valid */
    int64_t give_up_ms; /* it is no longer wanted then */
    uint8_t below;      /* 1: all steps below it too */
};

/* Who says that the reservation is one of this broker's jobs. */
enum reservation_origin {
    ORIGIN_JOB = 0,     /* a reserve */
    ORIGIN_FOUND = 1,   /* no one: the fabric manager listed it and this ledger did not know it. It
                           may be another broker's, so it is never deleted there (B11) */
    ORIGIN_CLAIMED = 2, /* found; a resource manager names it, the ledger remembers its job as over,
                           or an administrator says that no other broker uses the cluster's name */
    ORIGIN_PLUGIN = 3,  /* a reserve by Slurm's own plugin, which takes this broker for the fabric
                           manager (B9): owner, nodes and VNIs are not known */
};

/* A VNI that several jobs have by its name, also of different resource managers (B1). */
enum { SHARED_NAME_MAX = 32, SHARED_VNIS_PER_JOB_MAX = 3, SHARED_LIST_MAX = 4096 };

enum shared_state {
    SHARED_OPEN = 1,
    SHARED_CLOSED = 2,      /* takes no new jobs; removed when no job that runs has it */
    SHARED_QUARANTINED = 3, /* removed, its name is free; nodes of jobs that had it have yet to be
                               clean */
};

struct shared_vni_record {
    int64_t created_ms;
    int64_t expires_ms; /* closed then; 0: never */
    uint32_t uid;       /* its owner */
    uint16_t vni;       /* which one it is: no two have the same at a time */
    uint8_t state;      /* enum shared_state */
    const char *name;   /* shared_name_valid; never NULL, as all here */
    const char *users;  /* whose jobs may have it, beside the owner's: uids "1000,1001", "*": all */
    const char *clusters; /* of which clusters "elcap,tuo"; "": of all */
};

/* What a reservation has on disk and in memory alike: one assignment copies it. */
#define RESERVATION_MEMBERS                                                                        \
    uint64_t number;       /* grows for ever, never reused (S3) */                                 \
    uint64_t node_number;  /* its number in reports of nodes; 0: the same. Not for a life of the   \
                              job that the ledger had forgotten, or never knew */                  \
    int64_t created_ms;    /* Unix time in milliseconds, as all times here */                      \
    int64_t released_ms;   /* 0 while active */                                                    \
    int64_t hold_until_ms; /* nodes that report nothing keep VNIs quarantined until then; 0 while  \
                              active, or when they are waited for however long */                  \
    uint32_t uid;                                                                                  \
    uint32_t node_count;                                                                           \
    uint32_t cores_per_node;        /* 0: not given */                                             \
    uint32_t tasks_per_node;        /* 0: not given */                                             \
    uint32_t cpus_per_task;         /* 0: not given */                                             \
    uint32_t addresses;             /* multicast addresses asked for; 0 when not eligible */       \
    uint32_t min_nodes;             /* minimum size in force when reserved; 0: none was set */     \
    uint16_t vnis[VNI_PER_JOB_MAX]; /* its own, then those that it shares */                       \
    uint16_t pkey; /* partition key, 1-0x7ffe, without the bit of full membership; 0: none */      \
    uint8_t vni_count;                                                                             \
    uint8_t shared_count; /* so many of them, the last ones, are shared VNIs (sharedvnis.h) */     \
    uint8_t vni_asked; /* as the request resolved it, for telling a repeat from a conflict; those  \
                          that it shares count, too */                                             \
    uint8_t traffic_classes; /* enum traffic_class bits */                                         \
    uint8_t wish;            /* enum hwcoll_wish */                                                \
    uint8_t state;           /* enum job_state */                                                  \
    uint8_t hwcoll;          /* enum hwcoll_state */                                               \
    uint8_t fm_side;         /* enum fm_side */                                                    \
    uint8_t origin;          /* enum reservation_origin */                                         \
    uint8_t interconnect;    /* enum interconnect_kind */                                          \
    uint8_t regranted;       /* 1: granted more than once, perhaps to a job that restarted before  \
                                its release came: which life a node speaks of cannot be told */    \
    uint8_t launched;        /* 1: a launch document may be out: its nodes make services without   \
                                a report, so that time gives none of its VNIs back */

struct reservation_numbers {
    RESERVATION_MEMBERS
};

struct reservation_record {
    union {
        struct {
            RESERVATION_MEMBERS
        };
        struct reservation_numbers numbers; /* all of them at once */
    };
    const char *cluster; /* never NULL */
    const char *job;     /* never NULL */
    const char *nodes;   /* node list as given, or NULL */
    struct secret token; /* the fabric manager's sessionToken, or none */
    struct secret key;   /* the job's own at the interconnect, JOB_KEY_LENGTH digits; or none. On
                            Slingshot: that it is relayed, and its token (core/relay/) */
    const char *reason;  /* why hwcoll is not reserved, in words; or NULL */
    const char
        *profile; /* that its request named, by which a repeat is told from a conflict; or NULL */
};

/* Whether a job with this key makes its trees through this broker, with the key as its token, which
 * it was given before the fabric manager had answered (core/relay/, B9). */
static inline bool key_relays(int interconnect, struct secret key)
{
    return interconnect == INTERCONNECT_SLINGSHOT && !secret_none(key);
}

enum { BOOT_ID_MAX = 40 };

/* What the ledger remembers beside reservations. */
struct facts_record {
    uint64_t round_number; /* the reservation with the highest number that was given VNIs */
    uint32_t next_vni;     /* the search for free ones goes on here: round robin (F3) */
    uint8_t suspect;       /* 1: jobs may run that this ledger does not know (alarm.h) */
    uint8_t shared;   /* 1: there are, or were, shared VNIs: an mcastd of before, which does not
                         know this, must not take the ledger and give them to jobs */
    const char *boot; /* boot of the host in which all times below were written; "": unknown */
    int64_t clock_ms; /* Unix time less the time since that boot */
    int64_t holds_from_ms; /* times of before cannot be compared with those of now */
};

/* X(NAME, "word", fatal): F24. A fatal event is one that the resource manager must turn into an
 * exception of the job. */
#define EVENT_KINDS(X)                                                                             \
    X(RESERVED, "reserved", 0)                                                                     \
    X(DENIED, "denied", 0)                                                                         \
    X(TIMEOUT, "timeout", 0)                                                                       \
    X(UNAVAILABLE, "unavailable", 0)                                                               \
    X(RELEASED, "released", 0)                                                                     \
    X(LOST, "lost", 1)                                                                             \
    X(ADOPTED, "adopted", 0)                                                                       \
    X(LINK_UP, "link-up", 0)                                                                       \
    X(LINK_DOWN, "link-down", 0)                                                                   \
    X(LINGERING, "lingering", 0) /* on a node: to be drained (F9) */                               \
    X(FENCED, "fenced", 0)                                                                         \
    X(ALARM, "alarm",                                                                              \
      0) /* something that an administrator has to see to (core/reconcile/alarm.h) */              \
    X(ALARM_OVER, "alarm-over", 0)                                                                 \
    X(PARTITIONS, "partitions", 0)   /* other partitions of the fabric have other VNIs (B2) */     \
    X(VNI_FOREIGN, "vni-foreign", 0) /* a VNI in use is another partition's now */                 \
    X(VNI_SHARED, "vni-shared", 0)   /* a shared VNI was made (B1) */                              \
    X(VNI_REMOVED, "vni-removed", 0)                                                               \
    X(NIC_REPLACED, "nic-replaced", 0) /* of a node: another serial number (P5) */                 \
    X(NICS_CHANGED, "nics-changed", 0) /* … one more or less, address, speed, firmware */        \
    X(NIC_LINK, "nic-link", 0)         /* … a link is up or down */                              \
    X(SWITCH_DOWN, "switch-down", 0)   /* of the fabric (core/inventory/), as these (P5) */        \
    X(SWITCH_UP, "switch-up", 0)                                                                   \
    X(CABLE_DOWN, "cable-down", 0)                                                                 \
    X(CABLE_UP, "cable-up", 0)                                                                     \
    X(PORT_CHANGED, "port-changed", 0)                                                             \
    X(FABRIC_CHANGED, "fabric-changed", 0) /* what came and went, and what was too much */         \
    X(JOB_FABRIC, "job-fabric", 0) /* some of it concerns the job (core/inventory/concern.h) */

enum event_kind {
    EVENT_NONE = 0,
#define EVENT_ENUM_(name, word, fatal) EVENT_##name,
    EVENT_KINDS(EVENT_ENUM_)
#undef EVENT_ENUM_
        EVENT_KIND_COUNT
};

struct event_record {
    uint64_t seq; /* 1, 2, 3, … without gaps; survives restarts */
    int64_t time_ms;
    uint64_t number; /* of the reservation, 0 when about none */
    uint64_t proof;  /* of EVENT_RELEASED and EVENT_LOST: token_proof of its session token, by which
                        a leftover of it is known (B11); PROOF_UNANSWERED: a RESERVE of it may be
                        acted on, however late (F21); else 0 */
    const char *cluster;  /* NULL when about none */
    const char *job;      /* NULL when about none */
    const char *detail;   /* words, or NULL */
    const char *node;     /* that it is about, of no job: shown as the node itself is; or NULL */
    const char *clusters; /* about a shared VNI: as its list was then (shared_clusters_valid) */
    uint32_t uid;
    uint32_t node_count; /* from here on what the reservation has since this event */
    uint32_t addresses;  /* that it holds: 0 unless its hwcoll is HWCOLL_RESERVED */
    uint16_t vnis[VNI_PER_JOB_MAX];
    uint8_t vni_count;
    uint8_t state; /* enum job_state; 0: about no reservation, or of before schema 10, which did not
                      keep what it has */
    uint8_t kind;  /* enum event_kind */
};

/* What a node has told of its NICs (P2). */
struct nics_record {
    const char *node;
    const char *nics; /* nodenics_valid (inventory/nodenics.h); "": it has none */
    uint64_t order;   /* of its report, from 1 */
    int64_t changed_ms;
};

enum traffic_kind {
    TRAFFIC_TX_OCTETS,
    TRAFFIC_RX_OCTETS,
    TRAFFIC_TX_PACKETS,
    TRAFFIC_RX_PACKETS,
    TRAFFIC_PAUSED, /* how long NICs were paused, in cycles of their clocks */
    TRAFFIC_KINDS
};

/* At most so much: a number that is no less than 0 wherever it goes. */
#define TRAFFIC_MAX ((uint64_t)INT64_MAX)

/* What a job's nodes have counted on their NICs (P6, traffic.h). */
struct traffic_record {
    uint64_t seq;    /* 1, 2, 3, … in the order in which their reservations ended */
    uint64_t number; /* of the reservation */
    int64_t ended_ms;
    uint64_t amounts[TRAFFIC_KINDS];
    uint64_t slowest_octets, congested_paused;
    uint32_t uid, node_count;
    uint32_t told;    /* nodes that have told it */
    uint32_t shared;  /* of these: another job was there, too */
    uint32_t unclear; /* NICs that are not in it */
    uint32_t seconds; /* the longest time on a node */
    uint8_t lacking;  /* bits 1 << kind: a node has no such counter */
    const char *cluster, *job;
    const char *slowest, *congested; /* "node/device"; or NULL */
};

enum record_kind {
    RECORD_RESERVATION = 1,   /* insert or replace by number */
    RECORD_GONE = 2,          /* the reservation of this number is over: delete */
    RECORD_EVENT = 3,         /* insert by seq */
    RECORD_PRUNE = 4,         /* events up to and with this seq are no longer needed */
    RECORD_COUNTERS = 5,      /* the highest number and seq ever given out; written by the store
                                 itself from what it commits, and always the first one loaded */
    RECORD_FOUNDED = 6,       /* this ledger has seen a whole list of the fabric manager: from here
                                 on, what is not in it is known not to be ours any more */
    RECORD_NODE = 7,          /* insert or replace by number and node */
    RECORD_CLEANUP = 8,       /* insert or replace by number, step and below */
    RECORD_CLEANED = 9,       /* delete it; give_up_ms does not count */
    RECORD_FACTS = 10,        /* insert or replace: there is one */
    RECORD_SUM = 11,          /* insert by number and sum */
    RECORD_ROOT_KEYS = 12,    /* insert or replace: there is one, in a ledger that several brokers
                                 share. It is not the core's (broker/keyring.h) */
    RECORD_SHARED_VNI = 13,   /* insert or replace by VNI */
    RECORD_SHARED_GONE = 14,  /* the shared VNI is free: delete */
    RECORD_PARTITIONS = 15,   /* insert or replace: there is one */
    RECORD_NODE_NICS = 16,    /* insert or replace by node */
    RECORD_TRAFFIC = 17,      /* insert by seq */
    RECORD_TRAFFIC_GONE = 18, /* delete by seq */
    RECORD_NODE_NICS_GONE = 19, /* delete by node; of u.nics nothing else counts */
};

struct record {
    enum record_kind kind;
    union {
        struct reservation_record reservation;
        uint64_t gone;  /* number */
        uint64_t prune; /* seq */
        struct event_record event;
        struct node_record node;
        struct sum_record sum;
        struct cleanup_record cleanup; /* CLEANUP, CLEANED */
        struct facts_record facts;
        struct nics_record nics;
        struct traffic_record traffic;
        uint64_t traffic_gone; /* seq */
        struct shared_vni_record shared_vni;
        uint16_t shared_gone;    /* VNI */
        const char *partitions;  /* VNIs of other partitions, as partitions_text writes them */
        struct secret root_keys; /* as in the file (tokens/rootkeys.h) */
        struct {
            uint64_t last_number;
            uint64_t last_seq;
        } counters;
    } u;
};

const char *job_state_word(int state);           /* "active", "releasing" */
const char *reservation_origin_word(int origin); /* "job", "found", "claimed", "plugin" */
const char *hwcoll_state_word(int state);        /* "off", "reserved", … */
const char *hwcoll_wish_word(int wish);          /* "auto", … */
int hwcoll_wish_from_word(const char *word);     /* enum hwcoll_wish, or 0 */
int event_kind_from_word(const char *word);      /* enum event_kind, or 0 */
const char *interconnect_word(int kind);         /* "slingshot", … */
int interconnect_from_word(const char *word);    /* enum interconnect_kind, or -1 */
const char *event_kind_word(int kind);
int event_kind_fatal(int kind);
/* Whether an event is about a shared VNI: not for all who see those about no job. */
bool event_is_of_shared(const struct event_record *event);
/* Likewise about a node. One of before schema 11 does not say which. */
bool event_is_of_node(const struct event_record *event);
const char *shared_state_word(int state);   /* "open", "closed", "quarantined" */
bool shared_name_valid(const char *name);   /* 1-32 of a-z 0-9 _ . - */
bool shared_users_valid(const char *users); /* of a shared_vni_record */
bool shared_clusters_valid(const char *clusters);
const char *node_state_word(int state);        /* "created", …; "unknown" */
int node_state_from_word(const char *word);    /* what a node may report, or 0 */
const char *traffic_class_word(int bit);       /* "best_effort", …, or NULL */
int traffic_class_from_word(const char *word); /* one bit, or 0 */
