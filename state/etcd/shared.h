/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/etcd/etcd.h"
#include "state/etcd/gateway.h"
#include "state/etcd/identity.h"
#include "state/etcd/wire.h"
#include "state/sealing.h"
#include "state/worker.h"
#include "tokens/chain.h"
#include "tokens/keybytes.h"

#include <pthread.h>

/* What the questions about who leads and the store of the leader have in common. */

struct etcd {
    char *prefix;
    char *name;                     /* for messages: "the ledger /mcastd/elcap in etcd" */
    struct key leader, ledger, seq; /* the keys of these names */
    int64_t lease_ms;
    struct sealing sealing;                /* the store's */
    char key_id[2 * KEYBYTES_ID_SIZE + 1]; /* of the key that seals, in digits */
    char *fabric;                          /* its own, as JSON: ["fmn:8000"] */
    char *claim; /* what this broker says of itself, in the leader key and in its own */
    char *next_fabric, *next_claim; /* after a change, from the next question on; or NULL */
    bool waits;                     /* to lead: it has a key of its own */
    struct chain digesting;         /* the key that the configuration is hashed with */
    char configuration[17];

    bool accepts;       /* also another ledger than the one that was seen */
    struct error doubt; /* then: why others refuse it; code 0: they do not */
    char *seen_file;    /* or NULL */

    pthread_mutex_t lock; /* of the access, its holders, and what was seen */
    struct gateway_access *access;
    struct identity_seen seen; /* changed by the worker alone */
    bool unsaved;              /* it is not what the file says */

    struct worker worker; /* answers one question at a time */
    struct gateway gateway;
    bool asked;
    struct leader_ask ask;
    uint64_t held; /* the lease that the leader key was won with; 0: none */
    uint64_t held_revision;
    int64_t try_ms;
    struct etcd_answer answer;
};

enum {
    ETCD_ANSWER_MAX = 1 << 20, /* bytes, of all but a page of records */
    LEDGER_VERSION = 1,        /* in the ledger key: of keys and values below the prefix */
};

/* Sends it to a member of those in use now. */
struct gateway_reply etcd_post(struct etcd *etcd, struct gateway *gateway, const char *path,
                               const char *body, size_t answer_max, int64_t timeout_ms);
void etcd_release_gateway(struct etcd *etcd, struct gateway *gateway);

/* The value of the sequence key (core/leader/commit.h). */
enum { COMMIT_TEXT_SIZE = 40 };
void etcd_sequence(char out[static COMMIT_TEXT_SIZE], uint64_t lease, uint64_t commit);

/* Answers one question (election.c). */
void etcd_answer(struct etcd *etcd);

/* Reads what must be there and what may not, in so many operations, the first of a transaction; and
 * judges the answer: 0: a ledger of ours; 1: there is none, and no key of others; or a code with a
 * sentence: ERROR_INVALID (others' keys), ERROR_VERSION, ERROR_REFUSED (another key seals it),
 * ERROR_IO (no such answer). */
enum { ETCD_LOOKS = 2 + KEY_NAMES + 1 };
json_t *etcd_look(const struct etcd *etcd);
int etcd_judge(const struct etcd *etcd, const json_t *transaction, struct error *err);
/* Whether it is the right one, as identity_check, by what a transaction has read at this place, the
 * ledger key, and the next, the sequence key. fabric: also by that. ERROR_CORRUPT: there is none;
 * ERROR_IO. */
int etcd_check(struct etcd *etcd, const json_t *transaction, size_t at, bool fabric,
               struct error *err);
