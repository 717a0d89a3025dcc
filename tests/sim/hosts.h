/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The modelled compute nodes: a job's prologs make CXI services there, its epilogs destroy them,
 * and each node reports what became of them until it is heard, one report after the other; what it
 * has given up may arrive all the same. Some prologs undo what they made and are run again; some
 * services linger; some nodes die, with their services, and are fenced, boot, or are never heard of
 * again; some are cut off for longer than VNIs are held, and their services live on. */

struct sim;
struct job;
struct request;
struct told;
struct document;

enum { HOSTS_MAX = 16, OUTBOX_MAX = 32 }; /* larger jobs' nodes never report */

struct host_report {
    uint64_t number;
    uint32_t epoch; /* of the ledger that gave it */
    uint16_t vnis[VNI_PER_JOB_MAX];
    unsigned vni_count;
    uint32_t order;
    uint32_t making;  /* which services it is about: those of this call of make_services */
    uint32_t attempt; /* … of sending it */
    uint8_t state;    /* enum node_state, or HOST_BOOTED */
};
enum { HOST_BOOTED = 100 };

struct host {
    struct job *job;
    char name[32];
    bool present;    /* services exist */
    uint64_t number; /* … of this reservation, */
    uint32_t epoch;  /* … given by this ledger, with these: */
    uint16_t vnis[VNI_PER_JOB_MAX];
    unsigned vni_count;
    uint32_t making; /* how often services were made here */
    bool dead;
    bool fenced;
    bool cut_off;          /* nothing arrives, and its epilog does not run */
    bool untellable;       /* what it said last may be unknown, and it will not say it again */
    uint64_t heard_clean;  /* the broker has its word that nothing is left of this reservation */
    uint64_t heard_number; /* … that services of this reservation are there: */
    uint8_t heard_state;   /* created, or lingering */
    uint64_t misheard;     /* it went back, and has an old word that nothing is left of this one */
    uint16_t kept[VNI_PER_JOB_MAX]; /* … with these VNIs, when the broker did not know it */
    unsigned kept_count;
    uint64_t kept_batch;                   /* … which is on disk with this one */
    struct host_report outbox[OUTBOX_MAX]; /* the first is being sent */
    size_t outbox_count;
    uint32_t attempt;
    bool sending;
    bool unheard;     /* the attempt before brought no answer */
    uint32_t order;   /* of the last thing that it had to say */
    uint64_t in_wind; /* of this reservation a word that is not "clean" may arrive much later */
    uint64_t ended_number; /* of the last reservation that ended here, as it remembers */
    int64_t booted_ms;     /* 0: not in this run */
    uint64_t doubted; /* of this one a sum that its services linger may arrive after its word */
    uint64_t spoke_number; /* it reports of this reservation by itself */
    uint32_t prologs;      /* with a launch document, that are yet to run */
    uint32_t left_out;     /* in this life of the job no hook runs here */
};

void hosts_name_nodes(const struct sim *sim, const struct job *job, char *out, size_t size);

/* The job starts, or ends; it was told of this reservation. 0: of no VNIs, so of nothing to do. */
void hosts_prolog(struct sim *sim, struct job *job, const struct told *told);
void hosts_epilog(struct sim *sim, struct job *job, uint64_t number);

/* The job is over: each node asks the broker later for which such jobs VNIs wait for it, and tells
 * that nothing is left there of those that it has never heard of. */
void hosts_look(struct sim *sim, struct job *job);

/* For sums.c: a list of some of a job's nodes, by bits; and one of a sum that was taken. */
void hosts_name_some(const struct sim *sim, const struct job *job, uint32_t mask, char *out,
                     size_t size);
void hosts_summed(struct host *host, uint64_t number, enum node_state state);

/* For launch.c: the nodes of a job, NULL behind the last; prologs that ask the broker, of all nodes
 * or one; services made by a document; and a job that is over already ends there. */
struct host *hosts_at(struct sim *sim, struct job *job, uint32_t index);
void hosts_ask(struct sim *sim, struct job *job);
void hosts_ask_of(struct sim *sim, struct host *host, uint32_t life);
void hosts_make(struct sim *sim, struct host *host, const struct document *document);
void hosts_end_of(struct sim *sim, struct host *host, uint64_t number);

void hosts_event(const struct sim *sim, const struct request *request, struct core_event *event);
/* The core has answered a report; before the answer has left. */
void hosts_heard(struct sim *sim, const struct request *request, const struct told *told,
                 uint64_t batch);
void hosts_answered(struct sim *sim, const struct request *request);

/* What is true of the services of a reservation, whoever has been told. */
const struct host *hosts_present(const struct job *job, uint64_t number, uint32_t epoch);
uint32_t hosts_heard_clean(const struct job *job, uint64_t number);
/* One that has services of it and whose last word, which was heard, says so; or NULL. */
const struct host *hosts_known(const struct job *job, uint64_t number, uint32_t epoch);
/* One that has services with this VNI, and has told so of a reservation that was not known. */
const struct host *hosts_keep(const struct job *job, uint16_t vni);

/* The broker died, having made durable all batches up to this one. */
void hosts_died(struct sim *sim, uint64_t durable);
/* Its disk holds an older state. */
void hosts_rewound(struct sim *sim);

/* When all is calm: nobody is cut off; and whoever looks after the nodes fences those that are dead
 * and whose last known report is that services are there, and declares clean those that cannot tell
 * that theirs are gone, until none is left. */
void hosts_calm(struct sim *sim);
