#ifndef MCAST_CORE_INSIDE_H
#define MCAST_CORE_INSIDE_H

#include "core/agenda.h"
#include "core/callqueue.h"
#include "core/cleanup.h"
#include "core/core.h"
#include "core/eventlog.h"
#include "core/ledger.h"
#include "core/sighting.h"
#include "core/strays.h"
#include "core/tokenset.h"
#include "core/tombstones.h"
#include "core/vnipool.h"

/* What the core remembers, and the steps it is made of. For core's own files only.
 *
 * apply: a record changes the state, nothing else happens; replays the disk too.
 * act:   state → what is wanted; idempotent, so a reconnect or a restart is no special path.
 * Each kind of event has a file that decides which records to save, then lets act look. */

/* Reservations, and what they have, or may have, at the fabric manager. */
struct use {
    uint64_t addresses;
    uint64_t leaving;  /* of these, no longer wanted: to be released */
    uint64_t releases; /* reservations that are to be released there */
    uint64_t jobs_active, jobs_releasing, jobs_reserved, jobs_adopted;
    uint64_t jobs_found; /* of the adopted ones: ORIGIN_FOUND */
    uint64_t found;      /* ORIGIN_FOUND, active or not, and still at the fabric manager */
};

/* Asking a resource manager which of its jobs are active. */
struct rollcall {
    bool called; /* else nothing below counts */
    bool again;  /* to be asked anew as soon as the one under way is answered */
    bool stale;  /* the one under way is from before a reload, perhaps of the wrong command */
    uint64_t id; /* of the one under way, until what it named was compared; 0: none */
    int64_t asked_ms;
    int64_t due_ms;    /* none under way: when to ask; INT64_MAX: never */
    int64_t whole_ms;  /* last whole one since the start; 0: none */
    int64_t seen_ms;   /* when that one was asked; 0: none */
    uint64_t failures; /* since the start */
    char error[ERROR_TEXT_SIZE];
};

struct cluster {
    char name[CLUSTER_NAME_MAX + 1];
    struct use use;
    uint64_t told[EVENT_KIND_COUNT]; /* events since the start */
    int64_t synced_ms;               /* last sync since the start; 0: none */
    bool ids_known; /* since the start or the last reload a list has named an active job of ours */
    struct rollcall rollcall;
    char neighbour[64]; /* a name at the fabric manager that endangers ours, or "" */
    bool told_namesake; /* a reservation was listed that may be of a Slurm cluster named alike */
    uint32_t contested; /* names in the last whole list whose jobs have nothing there by the ledger,
                           and that it cannot explain */
    int64_t conflict_ms;   /* when a sign of another broker was seen last; 0: never */
    uint64_t sighting;     /* the last one that was compared, */
    int64_t sighted_ms;    /* and since when it is the truth; 0: none since the start */
    uint32_t unknown_jobs; /* that it named and the ledger does not know */
};

struct link {
    enum link_state state;
    int64_t since_ms;           /* up, or not up */
    int64_t lost_ms;            /* when it went down last */
    int64_t retry_ms;           /* down: when to log in again */
    int64_t relist_ms;          /* up: when to compare again; INT64_MAX: never */
    int64_t listed_ms;          /* last whole list since the start; 0: none */
    uint64_t losses;            /* how often it was up and went down */
    uint32_t failures;          /* attempts in a row that did not come up */
    uint32_t timeouts;          /* calls in a row that got no answer, late or broken */
    bool logging_in;            /* a login is under way: one at a time, whatever the state */
    bool again;                 /* it is for another URL by now: log in again when it ends */
    uint32_t url;               /* index of the URL in use, or to be tried next */
    uint64_t list;              /* id of the list under way, 0: none */
    int64_t began_ms;           /* when that, or the last one, began */
    uint32_t told[FM_URLS_MAX]; /* what each URL's trouble was, as a hash; so that news are told */
    char error[ERROR_TEXT_SIZE];
};

enum { UNKNOWN_LIVES_MAX = 256, UNKNOWN_LIVES_PER_NODE = 8 };

/* A node that reported lives which the ledger does not know, and how many since there were none. */
struct unknown_node {
    char name[NODELIST_NAME_MAX + 1];
    uint32_t lives;
};

/* One that is on. */
struct alarm {
    struct alarm *next; /* raised later */
    enum alarm_kind kind;
    const char *cluster; /* the core's own copy, shared; NULL: not of one cluster */
    int64_t since_ms;
    char detail[ERROR_TEXT_SIZE];
};

struct core {
    struct core_config config;
    int64_t now_ms;

    struct ledger ledger;
    struct vnipool vnis;
    struct agenda agenda;
    struct callqueue calls;
    struct tombstones tombstones;
    struct strays strays;
    struct eventlog events;
    struct link link;
    struct alarm *alarms;       /* that are on, in the order in which they were raised */
    struct sighting *sightings; /* under way, in the order in which they began */
    struct cluster **clusters;
    uint32_t cluster_count;
    struct errand *errands; /* all of them */

    uint64_t last_number, last_seq, last_list, last_sighting, last_rollcall;
    uint64_t step_seq;    /* last_seq when this step began */
    struct use all;       /* of all clusters */
    bool room_made;       /* in this step: addresses were given back, or the limits changed */
    uint64_t lingering;   /* node reports that say so */
    uint64_t unconfirmed; /* VNIs given back by time only */
    uint64_t overdue;     /* VNIs held back although their time is over */
    uint64_t cleanups;    /* on disk, of all reservations */
    uint64_t cleanups_done, cleanups_given_up;
    uint64_t room_wanted;           /* reservations that wait for others' addresses */
    bool founded;                   /* RECORD_FOUNDED is there */
    struct facts_record facts;      /* its boot is the next one, */
    char boot[BOOT_ID_MAX + 1];     /* in which times of the ledger were written */
    char boot_now[BOOT_ID_MAX + 1]; /* "": not told */
    int64_t clock_now_ms;           /* Unix time less the time since that boot */
    bool clock_unsaved;             /* the facts on disk are of another boot, or clock */
    uint64_t gone, missing; /* missing.c: of reservations that should be there, so many are said to
                               be gone; or a list did not name them */
    uint64_t unknown_lives; /* reservations that only nodes know: node_number is not 0 */
    char suspect_node[NODELIST_NAME_MAX + 1]; /* reported a number that was never given; or "" */
    uint64_t suspect_number; /* what was reserved up to then says nothing of who has its VNIs now */
    int64_t mass_loss_ms;    /* when so much was missing last; 0: never, or it is accepted */
    int64_t adopted_ms;      /* when an adopted job ended last */
    struct unknown_node unknown_nodes[UNKNOWN_LIVES_MAX]; /* which nodes reported unknown lives */
    int64_t suspect_ms;     /* when a job was seen that the ledger does not know */
    struct tokenset tokens; /* session tokens of reservations */

    struct effect *effects;
    size_t effect_count, effect_room;
    void **discarded; /* freed when the next step begins: effects may point at them */
    size_t discarded_count, discarded_room;
};

/* ---- effects.c ---- */
struct effect *core_effect(struct core *core, enum effect_kind kind); /* a new one, to be filled */
void core_discard(struct core *core, void *memory);
/* Text that lives until the next step. */
__attribute__((format(printf, 2, 3))) const char *core_text(struct core *core, const char *format,
                                                            ...);
__attribute__((format(printf, 3, 4))) void core_trace(struct core *core, int level,
                                                      const char *format, ...);
/* The same about a reservation, which the log then has as fields too; and of what is published
 * about it (EVENT_NONE: nothing). */
__attribute__((format(printf, 5, 6))) void core_trace_event(struct core *core,
                                                            const struct reservation *reservation,
                                                            enum event_kind event, int level,
                                                            const char *format, ...);
__attribute__((format(printf, 4, 5))) void core_trace_of(struct core *core,
                                                         const struct reservation *reservation,
                                                         int level, const char *format, ...);
void core_effects_clear(struct core *core);
void core_answer(struct core *core, uint64_t ticket, enum answer_kind kind,
                 const struct reservation *reservation, const char *detail);

enum { TRACE_ERROR = 3, TRACE_WARNING = 4, TRACE_NOTICE = 5, TRACE_INFO = 6, TRACE_DEBUG = 7 };

/* ---- alarm.c ---- */
/* The first time it is an event and a line in the log, then only the detail is replaced. */
__attribute__((format(printf, 4, 5))) void
alarm_raise(struct core *core, enum alarm_kind kind, const char *cluster, const char *format, ...);
void alarm_clear(struct core *core, enum alarm_kind kind, const char *cluster);
bool alarm_on(const struct core *core, enum alarm_kind kind, const char *cluster);
void alarm_release(struct core *core); /* all memory */

/* ---- apply.c ---- */
int core_apply(struct core *core, const struct record *record, struct error *err);
/* Applies and asks for it to be saved; returns the reservation. */
struct reservation *core_save(struct core *core, const struct reservation_record *record);
void core_save_gone(struct core *core, struct reservation *reservation);
void core_save_founded(struct core *core);
void core_save_facts(struct core *core, const struct facts_record *facts);
void core_save_node(struct core *core, const struct node_record *record);
void core_save_cleanup(struct core *core, const struct cleanup_record *record);
void core_save_cleaned(struct core *core, const struct cleanup_record *record);
void core_save_prune(struct core *core, uint64_t up_to); /* events up to this one go */
/* Saves an event and publishes it. reservation NULL: about the link. detail may be NULL. */
void core_publish(struct core *core, enum event_kind kind, const struct reservation *reservation,
                  const char *detail);
void core_publish_released(struct core *core, const struct reservation *reservation,
                           const char *why, uint64_t proof);
struct errand *core_errand(struct core *core, struct reservation *reservation); /* makes one */
struct cluster *core_cluster(struct core *core, const char *name);              /* makes one */
/* The cluster's configuration, or NULL when no such cluster is configured. */
const struct cluster_config *core_cluster_config(const struct core *core, const char *name);

/* ---- budget.c ---- */
/* Whether so many more addresses may be asked for: now, when what is being released is gone, no. */
enum budget { BUDGET_ROOM, BUDGET_SOON, BUDGET_NONE };
enum budget core_budget(struct core *core, const char *cluster, uint32_t addresses);
const char *core_budget_words(struct core *core, const char *cluster, uint32_t addresses);

/* ---- core.c ---- */
void core_keep_clock(struct core *core); /* VNIs are about to be held back */

/* ---- hold.c ---- */
/* Whether each node has said that nothing of the job is left there, so that its VNIs can do no
 * harm; whether one has said that it has services, which time does not end (F3). */
bool hold_all_clean(const struct reservation *reservation);
bool hold_has_services(const struct reservation *reservation);
/* Until when nodes that have said nothing hold back its VNIs; INT64_MAX: until they report. */
int64_t hold_end(const struct core *core, const struct reservation *reservation);

/* ---- act.c ---- */
void core_act(struct core *core, struct reservation *reservation);
/* All lives of a job: what one of them waited for may have come. */
void core_act_on_lives(struct core *core, const char *cluster, const char *job);
void core_pump(struct core *core); /* hands out calls while there are places */
/* The outcome of wanting multicast addresses is known: saves it, tells those who wait. */
void core_settle(struct core *core, struct reservation *reservation, enum hwcoll_state hwcoll,
                 enum fm_side side, struct secret token, const char *reason);
/* What may be there of one that is not wanted any more. "Held", said of what was in its way, would
 * hide from the next start that a first try of its own may yet be acted on (docs/model found it).
 */
enum fm_side core_side_unwanted(const struct reservation *reservation);
/* What an answer has to warn of although it is a yes, the same each time it is given; or NULL. */
const char *core_warning(struct core *core, const struct reservation *reservation);
/* Which event tells of a reserve that ended so. */
enum event_kind core_event_of(enum hwcoll_state hwcoll);
/* Those that wait for addresses look again, if there may be room now. */
void core_act_on_room(struct core *core);
/* The fabric manager has given up the reservation. */
void core_released_at_fm(struct core *core, struct reservation *reservation);
/* Gives up waiting for the fabric manager (F21). */
void core_give_up(struct core *core, struct reservation *reservation, enum hwcoll_state hwcoll,
                  const char *reason);

/* ---- one event, one file ---- */
void core_reserve(struct core *core, uint64_t ticket, const struct reserve_request *request);
void core_release(struct core *core, uint64_t ticket, const char *cluster, const char *job);
void core_begin_release(struct core *core, struct reservation *reservation, const char *why);
void core_sync(struct core *core, const struct core_event *event);
void sync_compared(struct core *core, const struct sighting *sighting); /* its last lot */
void core_call_done(struct core *core, const struct core_event *event);

/* The reservation is granted once more. */
void core_granted_again(struct core *core, struct reservation *reservation);
void core_node_report(struct core *core, const struct core_event *event);
void core_fence(struct core *core, uint64_t ticket, const char *node, const char *reason);
void core_node_boot(struct core *core, uint64_t ticket, const char *node, uint64_t order);

/* ---- missing.c ---- */
/* The fabric manager says of one that should be there that there is none, or one with another
 * token. May end as `lost`. */
void missing_gone(struct core *core, struct reservation *reservation, bool other_token);
/* It is there, or need not be there any more. */
void missing_forget(struct core *core, struct errand *errand);
/* A list was read whole, and errand->listed says what it named. */
void missing_compare(struct core *core);
bool missing_wants_list(const struct core *core); /* a second one concludes something */
void missing_watch(struct core *core);            /* raises the alarm or ends it */
void core_accept_loss(struct core *core, uint64_t ticket);

/* ---- claim.c ---- */
/* There is something under a name of ours that may be another broker's. */
void conflict_raise(struct core *core, const char *cluster, const char *job, const char *why);
void conflict_resume(struct core *core); /* after a restart */
void conflict_watch(struct core *core);  /* after a whole list: ends alarms whose cause is gone */
/* Jobs may run that the ledger does not know: free VNIs are not given out for a while. */
void suspect_begin(struct core *core, const char *cluster, const char *job, const char *why);
void suspect_resume(struct core *core); /* after a restart */
void suspect_watch(struct core *core);  /* ends it when its time has come */
int64_t suspect_deadline(const struct core *core);
void core_claim(struct core *core, uint64_t ticket, const char *cluster);

/* ---- cleanup_ask.c ---- */
void core_cleanup(struct core *core, const struct core_event *event);
void core_steps(struct core *core, const struct core_event *event);
/* After loading: no deadline lies further away than it could if it were asked for now. */
void cleanup_load(struct core *core, struct reservation *reservation);

/* ---- cleanup.c ---- */
/* Looks at what has become due or needless, and queues the next call. */
void cleanup_act(struct core *core, struct reservation *reservation);
int64_t cleanup_deadline(const struct core *core, const struct reservation *reservation);
/* Fills in which call it is. */
void cleanup_begin(struct core *core, struct reservation *reservation, struct effect *effect);
/* Whether a call under way would be about the job's next life, too, were that there by then. */
bool cleanup_may_hit_name(const struct reservation *reservation);
/* Whether what came of it says anything about the link: under a job's token not even a timeout
 * does, the gateway may want to see a certificate that goes with the login only. */
bool cleanup_done(struct core *core, struct reservation *reservation, enum fmcall_kind kind,
                  enum fmcall_outcome outcome, const struct fmcall_steps *steps, const char *words);
/* There is something at the fabric manager, and its end does not take the trees along anyway. */
bool cleanup_has_trees(const struct reservation *reservation);
/* Why no way is left to remove them; NULL: there is one. cleanup_allow_login says what to do. */
const char *cleanup_barred(const struct core *core, const struct reservation *reservation);
extern const char cleanup_allow_login[];
extern const struct fmcall_steps cleanup_no_steps;

/* ---- rollcall.c ---- */
void rollcall_start(struct core *core); /* at the start, and when the link is up again: all */
void rollcall_soon(struct core *core, struct cluster *cluster); /* one that begins from now on */
void rollcall_configure(struct core *core);
void rollcall_tick(struct core *core);
int64_t rollcall_deadline(const struct core *core);
void rollcall_done(struct core *core, const struct core_event *event);
void rollcall_compared(struct core *core, const struct sighting *sighting); /* its last lot */
void rollcall_dropped(struct core *core, const struct sighting *sighting);

/* ---- link.c ---- */
void link_start(struct core *core);
void link_login_done(struct core *core, bool ok, const char *words);
void link_lost(struct core *core, const char *words);
void link_came_up(struct core *core);
void link_tick(struct core *core);
int64_t link_deadline(const struct core *core);
void link_list(struct core *core);
void link_list_next(struct core *core); /* a list has ended: when the next one is due */
void link_list_within(struct core *core, int64_t wait_ms); /* while up: compares again by then */
/* Finds the URL in use in the new configuration, which is not yet in force. Whether it is another
 * one; then, when it is in force, link_move. */
bool link_configure(struct core *core, const struct core_config *config);
void link_move(struct core *core);
/* Whether a job may wait for it: up, or coming up for the first time since it last was. */
bool link_worth_waiting(const struct link *link);
/* A call was answered, or not in time. */
void link_heard(struct core *core);
void link_unheard(struct core *core, const char *words);

/* ---- listing.c ---- */
/* Takes in what was found at the fabric manager; NULL: it is over already. */
struct reservation *listing_take_in(struct core *core, const char *cluster, const char *job,
                                    enum job_state state, enum reservation_origin origin,
                                    const char *reason);
/* The fabric manager has this token for one that was found, and whose job is over. */
void listing_leftover(struct core *core, struct reservation *reservation, struct secret token);
void listing_names(struct core *core, uint64_t list, const char *const *names, size_t count);
void listing_done(struct core *core, uint64_t list, enum fmcall_outcome outcome, const char *words);

#endif
