/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/metrics/histogram.h"
#include "core/leader/leader.h"
#include "state/etcd/etcd.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* This broker's part in the election among several (B7): core/leader on the loop, and its questions
 * to etcd. NULL stands for a broker that is alone, where a pointer to one is taken. */

struct leadership;

/* Called from the loop; words are valid during the call. */
struct leadership_hooks {
    void *arg;
    void (*won)(
        void *arg); /* it leads from now on, once at most: leadership_store opens the ledger */
    /* It led and may no longer: to say nothing more, and end at once. */
    void (*lost)(void *arg, const char *words);
    void (*refused)(void *arg, const char *words); /* this cluster is not to be used */
    void (*resigned)(void *arg);                   /* what leadership_resign began is done */
};

/* etcd stays the caller's; url: where clients find this broker while it leads. Never NULL
 * (base/memory.h). */
struct leadership *leadership_create(uv_loop_t *loop, struct etcd *etcd, int64_t lease_ms,
                                     const char *url, const struct leadership_hooks *hooks);

/* The ledger, for the one that has won. leadership_forget_store: before it is closed. NULL with a
 * sentence. */
struct store *leadership_store(struct leadership *leadership, struct error *err);
void leadership_forget_store(struct leadership *leadership);

/* To be asked immediately before each answer, each call of the fabric manager and each read that a
 * leader serves. False: it led and may no longer, and hooks.lost was called. */
bool leadership_holds(struct leadership *leadership);

/* The ledger says that another broker leads. */
void leadership_deposed(struct leadership *leadership, const char *words);

/* It leads no longer and will not: another broker can take over at once. For an engine that has
 * stopped. A broker that does not lead tries once. */
void leadership_resign(struct leadership *leadership);

/* Frees it, in the turns of the loop that follow; etcd is closed after them. */
void leadership_destroy(struct leadership *leadership);

/* What the status and /metrics tell. */
struct leadership_facts {
    enum leader_phase phase;
    char leader[256];            /* URL of who leads; "": none does, or it is not known */
    char member[256];            /* of the cluster, that was asked last; "": none */
    int64_t lease_ms;            /* as granted; 0: none */
    int64_t lease_age_ms;        /* since it was last extended; -1: there is none */
    int64_t unreachable_ms;      /* since the first question without an answer; -1: the last one
                                    was answered */
    char error[ERROR_TEXT_SIZE]; /* why not, while it is unreachable */
    uint64_t answered, unanswered;
    uint64_t leaders;          /* how often another, or none, was seen to lead */
    int64_t took_us;           /* the last answer */
    struct histogram times;    /* of answers */
    const char *configuration; /* hash of what all brokers must agree on (etcd.h) */
    bool looked;               /* it leads, and knows its standbys */
    struct etcd_standbys standbys;
};
/* Valid until the next call of it. NULL for a broker that is alone. */
const struct leadership_facts *leadership_facts(struct leadership *leadership);
