#ifndef MCAST_SIM_HOSTS_H
#define MCAST_SIM_HOSTS_H

#include "core/core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The modelled compute nodes: a job's prologs make CXI services there, its epilogs destroy them,
 * and each node reports what became of them until it is heard, one report after the other; what it
 * has given up may arrive all the same. Some prologs undo what they made and are run again; some
 * services linger; some nodes die, with their services, and are fenced, or never heard of again. */

struct sim;
struct job;
struct request;

enum { HOSTS_MAX = 16, OUTBOX_MAX = 32 }; /* larger jobs' nodes never report */

struct host_report {
    uint64_t number;
    uint32_t order;
    uint32_t attempt; /* … of sending it */
    uint8_t state;
};

struct host {
    struct job *job;
    char name[32];
    bool present;    /* services exist */
    uint64_t number; /* … of this reservation */
    bool dead;
    bool fenced;
    uint64_t heard_clean;     /* the broker has its word that nothing is left of this reservation */
    uint64_t heard_lingering; /* … that services of this reservation will not go */
    struct host_report outbox[OUTBOX_MAX]; /* the first is being sent */
    size_t outbox_count;
    uint32_t attempt;
    bool sending;
    bool unheard;     /* the attempt before brought no answer */
    uint32_t order;   /* of the last thing that it had to say */
    uint64_t in_wind; /* of this reservation a word that is not "clean" may arrive much later */
};

void hosts_name_nodes(const struct sim *sim, const struct job *job, char *out, size_t size);

/* The job starts, or ends; it was told of this reservation. 0: of no VNIs, so of nothing to do. */
void hosts_prolog(struct sim *sim, struct job *job, uint64_t number);
void hosts_epilog(struct sim *sim, struct job *job, uint64_t number);

void hosts_event(const struct sim *sim, const struct request *request, struct core_event *event);
void hosts_answered(struct sim *sim, const struct request *request);

/* What is true of the services of a reservation, whoever has been told. */
const struct host *hosts_present(const struct job *job, uint64_t number); /* or NULL: none */
uint32_t hosts_heard_clean(const struct job *job, uint64_t number);
/* One that has services of it and whose last word, which was heard, is that they will not go. */
const struct host *hosts_lingering(const struct job *job, uint64_t number);

/* When all is calm: whoever looks after the nodes fences those that are dead and whose last word
 * known is that services will not go, until none is left. */
void hosts_calm(struct sim *sim);

#endif
