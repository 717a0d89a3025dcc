/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "core/leader/leader.h"
#include "state/store.h"

#include <stdbool.h>
#include <stdint.h>

/* A ledger that several brokers share (B7), on etcd 3.4 or newer through its JSON gateway: the
 * questions about who leads, and the store of the one who does (docs/high-availability.md).
 *
 * Each of the two has a thread and a connection of its own, so that no request to etcd runs on the
 * owner's thread, and a slow commit delays no keepalive. Like a store, a struct etcd has one owner
 * and is used from one thread. */

struct etcd_options {
    const char *const *endpoints;     /* base URLs of the members, "https://m1:2379" */
    size_t endpoint_count;            /* from 1 */
    const char *prefix;               /* of all keys: "/mcastd/elcap", without a slash at its end */
    const char *ca, *cert, *key;      /* PEM files, or NULL */
    const char *user, *password_file; /* only where etcd's own authentication is on; or NULL */
    const char *key_file;             /* seals secrets: the same key on all brokers */
    const char *advertise;            /* URL at which clients reach this broker when it leads */
    const char *version;              /* of this mcastd */
    const char *configuration; /* what all brokers must agree on, as text; others get a keyed hash
                                  of it. NULL: it does not wait to lead, others do not see it */
    const char (*fabric)[512]; /* base URLs of its fabric manager */
    size_t fabric_count;       /* 0: it has none */
    const char *state_path;    /* what was seen of the ledger is kept in PATH.seen; NULL: nowhere */
    bool accepts; /* a ledger that is not the one that was seen, or of another fabric manager */
    int64_t lease_ms;
};

struct etcd;

/* Copies the options and reads the files that they name; sends nothing. NULL with a sentence. */
struct etcd *etcd_open(const struct etcd_options *options, struct error *err);

/* Other endpoints, certificates or passwords from the next request on (a reload); prefix, key_file
 * and lease_ms stay; and another configuration. 0, or a code with a sentence and nothing changed.
 */
int etcd_change(struct etcd *etcd, const struct etcd_options *options, struct error *err);

/* Ends its threads, at the latest when the request under way has ended; frees. The store, if any,
 * is closed before. NULL is allowed. */
void etcd_close(struct etcd *etcd);

/* Asks the cluster one question of core/leader; the one before must have been answered. Each is
 * tried once, at one member; a try that fails moves on to the next member for the next question.
 * LEADER_RESIGN and LEADER_TEST are questions like the others. */
void etcd_ask(struct etcd *etcd, const struct leader_ask *ask, int64_t try_ms);

/* Readable when etcd_take_answer has something. Owned by etcd. */
int etcd_fd(const struct etcd *etcd);

/* A broker that waits to lead, in its own words: printable ASCII. */
struct etcd_standby {
    char url[256], host[65], version[33];
    char configuration[17]; /* a hash: the same as etcd_configuration's, if that is the same */
};

enum { ETCD_STANDBYS_MAX = 8 }; /* that are looked at */

struct etcd_standbys {
    size_t count;
    struct etcd_standby all[ETCD_STANDBYS_MAX];
    size_t malformed; /* further ones, which say nothing that can be read */
};

/* Of this broker; "" when it does not wait to lead. Valid until etcd_change. */
const char *etcd_configuration(const struct etcd *etcd);

struct etcd_answer {
    struct leader_answer answer;
    char holder_url[256]; /* what the leader advertises; "" when none leads, or not asked */
    char member[256];     /* the endpoint that was asked */
    struct error error;   /* why the outcome is LEADER_UNKNOWN or LEADER_REFUSED */
    bool looked;          /* standbys are known: with a leader's LEADER_KEEPALIVE, mostly */
    struct etcd_standbys standbys;
    int64_t took_us;
};
bool etcd_take_answer(struct etcd *etcd, struct etcd_answer *out);

/* Writes to PATH.seen which ledger was seen, if that has changed; from any thread, one at a time.
 * etcd_close does so, too. 0, or ERROR_IO with a sentence: it may be noticed less. */
int etcd_remember(struct etcd *etcd, struct error *err);

/* The ledger, for the broker that leads by this lease and revision (struct leader). Loads in pages:
 * store_load returns 1 between them. A commit is tried at one member after the other until it is
 * answered, or until the deadline of store_etcd_extend: then, and when another broker leads, it
 * ends with ERROR_NOT_LEADER. ERROR_FULL: etcd has no space (its NOSPACE alarm) and changes nothing
 * for now; ERROR_IO: it refuses for another reason. After these two the same batch is committed
 * again before any other: a copy of it may be on its way. Loaded before the first commit, closed
 * before etcd is. NULL with a sentence. */
struct store *store_etcd_open(struct etcd *etcd, uint64_t lease, uint64_t revision,
                              int64_t deadline_ms, struct error *err);

/* The lease holds until then (struct leader, deadline_ms). */
void store_etcd_extend(struct store *store, int64_t deadline_ms);

/* For options.accepts, when the ledger was loaded: why brokers refuse it, ERROR_REFUSED or, for its
 * fabric manager, ERROR_INVALID. NULL: they take it. From the next commit on it is theirs; old: it
 * is not to be founded, as a backup that was put back. */
const struct error *store_etcd_doubt(const struct store *store);
void store_etcd_accept(struct store *store, bool old);

/* The ledger as it is in one moment, for store_load alone and once: nothing is changed. *live: a
 * broker leads, and goes on meanwhile. Waits for the first answer; gives up after 20 s without one.
 */
struct store *store_etcd_open_copy(struct etcd *etcd, bool *live, struct error *err);
