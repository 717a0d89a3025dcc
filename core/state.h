/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/inventory/concern.h"
#include "core/inventory/nodenics.h"
#include "core/reservation/agenda.h"
#include "core/fabric/callqueue.h"
#include "core/fabric/cleanup.h"
#include "core/fabric/link.h"
#include "core/fabric/reservewait.h"
#include "core/core.h"
#include "core/reservation/eventlog.h"
#include "core/reservation/held.h"
#include "core/reservation/ledger.h"
#include "core/reconcile/joblist.h"
#include "core/reconcile/jobpoll.h"
#include "core/reconcile/strays.h"
#include "core/reservation/tokenset.h"
#include "core/reservation/partitions.h"
#include "core/reservation/sharedvnis.h"
#include "core/reservation/tombstones.h"
#include "core/inventory/traffic.h"
#include "core/reservation/vnipool.h"

/* What the core remembers. For core's own files only.
 *
 * apply: a record changes the state, nothing else happens; replays the disk too.
 * act:   state → what is wanted; idempotent, so a reconnect or a restart is no special path.
 * Each kind of event has a file that decides which records to save, then lets act decide what to
 * do. */

struct cluster {
    char name[CLUSTER_NAME_MAX + 1];
    struct core_use use;
    uint64_t published[EVENT_KIND_COUNT]; /* events since the start */
    int64_t synced_ms;                    /* last sync since the start; 0: none */
    bool ids_known; /* since the start or the last reload a list has named an active job of ours */
    struct jobpoll jobpoll;
    char name_conflict[64]; /* a name at the fabric manager that endangers ours, or "" */
    bool same_name_logged; /* a reservation was listed that may be of a Slurm cluster named alike */
    uint32_t contested;  /* names in the last whole list that the ledger cannot explain: by it their
                            jobs have nothing at the fabric manager */
    int64_t conflict_ms; /* when a sign of another broker was seen last; 0: never */
    uint64_t joblist;    /* the last one that was compared, */
    int64_t joblist_ms;  /* and since when it is the truth; 0: none since the start */
    uint32_t unknown_jobs; /* that it named and the ledger does not know */
};

enum { UNKNOWN_LIVES_MAX = 256, UNKNOWN_LIVES_PER_NODE = 8 };

/* Jobs run that the ledger does not know (reconcile/suspect.c, unknownlife.c). While VNIs
 * are suspect because of it, facts.suspect is set. */
struct suspicion {
    int64_t since_ms;        /* when such a job was seen */
    uint64_t numbers;        /* the highest when it began. VNIs that a later reservation gives back
                                are known to be free; those of one up to it may be in use */
    int64_t adopted_over_ms; /* when an adopted job ended last */
    uint64_t unknown_lives;  /* reservations that only nodes know: node_number is not 0 */
    char node[NODELIST_NAME_MAX + 1]; /* reported a number that was never given; or "" */
    struct unknown_node {
        char name[NODELIST_NAME_MAX + 1]; /* "": this entry and all behind it are free */
        uint32_t lives;                   /* since there were none */
    } nodes[UNKNOWN_LIVES_MAX];           /* reported unknown lives */
};

/* VNIs of other partitions of the fabric (reconcile/foreign.c). vnis.foreign has them all, and
 * vnis.doubtful what the last answer would have taken away. */
struct foreign {
    struct partitions others; /* as on disk */
    char *text;               /* of it; NULL: the fabric manager has never told */
    struct idset lacking;     /* an answer no longer named them, */
    int64_t lacking_ms;       /* when */
    int64_t doubted_ms;       /* when an answer was first doubted; 0: none is */
    bool other;               /* the site's own is another one than when it was told last */
};

/* Which boot of the host it is, and its clock: whether times in the ledger can be compared with
 * those of now (reservation/quarantine.c). */
struct host_clock {
    char boot[BOOT_ID_MAX + 1]; /* "": not given */
    int64_t clock_ms;           /* Unix time less the time since that boot */
    bool unsaved;               /* the facts on disk are of another boot, or clock */
};

struct core {
    struct core_config config;
    int64_t now_ms, started_ms;

    struct ledger ledger;
    struct vnipool vnis;
    struct shared_vnis shared;
    struct foreign foreign;
    struct held vnis_held, pkeys_held; /* by released jobs of each user */
    struct idset pkeys_taken;          /* partition keys of all reservations */
    uint32_t pkey_after;               /* the search for a free one starts here (round robin) */
    struct agenda agenda;
    struct callqueue calls;
    struct tombstones tombstones;
    struct tombstones unanswered; /* jobs with a RESERVE that may be acted on, however late (F21) */
    struct strays strays;
    struct eventlog events;
    struct nodenics_table nics;
    struct concern concern;
    struct traffic_log traffic;
    struct core_traffic_sums traffic_sums;
    struct link link;
    struct reservewait reservewait;
    struct alarm *alarms;     /* that are on, in the order in which they were raised */
    struct joblist *joblists; /* under way, in the order in which they began */
    struct cluster **clusters;
    uint32_t cluster_count;
    struct operation *operations; /* all of them */

    uint64_t last_number, last_seq, last_list, last_joblist, last_jobpoll;
    uint64_t step_seq;                       /* last_seq when this step began */
    struct core_use all_use;                 /* of all clusters */
    int64_t vnis_none_ms, addresses_full_ms; /* core_status */
    bool addresses_freed; /* in this step: addresses were given back, or the limits changed */
    uint64_t lingering;   /* node reports that say so */
    uint64_t unconfirmed; /* VNIs given back by time only */
    uint64_t overdue;     /* VNIs quarantined although their time is over */
    struct core_cleanups cleanups;
    size_t relay_bytes;         /* of the bodies that relayed jobs' requests have */
    uint64_t addresses_awaited; /* reservations that wait for others' addresses */
    bool founded;               /* RECORD_FOUNDED is there */
    struct facts_record facts;  /* its boot is the next one, */
    char boot[BOOT_ID_MAX + 1]; /* in which times of the ledger were written */
    struct host_clock host;
    struct suspicion suspicion;
    uint64_t gone, missing; /* missing.c: of reservations that should be there, so many are said to
                               be gone; or a list did not name them */
    int64_t mass_loss_ms;   /* when so much was missing last; 0: never, or it is accepted */
    struct tokenset tokens; /* session tokens of reservations */

    struct effect *effects;
    size_t effect_count, effect_capacity;
    void **discarded; /* freed when the next step begins: effects may point at them */
    size_t discarded_count, discarded_capacity;
};

/* The reservations that have an operation, one after another; *at is core->operations at first.
 * Acting on one may end it, or others. */
static inline struct reservation *operations_next(struct operation **at)
{
    struct operation *op = *at;
    while (op && !op->owner)
        op = op->next;
    *at = op ? op->next : NULL;
    return op ? op->owner : NULL;
}
