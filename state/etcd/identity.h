/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/etcd/wire.h"

#include "base/error.h"

/* Which ledger is below the prefix: what the key /ledger says, and what this broker remembers of it
 * in a file of its own (docs/high-availability.md, "The right ledger"). */

struct etcd;

enum { IDENTITY_ID_SIZE = 33 };

struct identity_seen {
    char id[IDENTITY_ID_SIZE]; /* of the ledger; "": none was seen, or it had none yet */
    uint64_t commits;          /* and elections: how often its key /seq was put */
};

/* Reads the file, if there is one: one that is of another prefix, or damaged, says nothing.
 * ERROR_REFUSED: others could change it. */
int identity_recall(struct etcd *etcd, struct error *err);

/* The value of the key of a new ledger; owned by the caller. */
char *identity_found(const struct etcd *etcd);

/* Whether it is the key of a ledger, of any. */
bool identity_is_one(const struct wire_kv *ledger);

/* Format, version and key are ours. 0, or a code with a sentence as of etcd_judge. */
int identity_judge(const struct etcd *etcd, const struct wire_kv *ledger, struct error *err);

/* Whether a ledger with this key (NULL: there is none) and so many commits is the one that was
 * seen, with all that was seen of it: else ERROR_REFUSED; and of the fabric of this broker: else
 * ERROR_INVALID. With a sentence. */
int identity_check(struct etcd *etcd, const struct wire_kv *ledger, uint64_t commits,
                   struct error *err);
int identity_check_fabric(const struct etcd *etcd, const struct wire_kv *ledger, struct error *err);

/* Remembers it, for etcd_remember. ledger: NULL: the same as before. */
void identity_note(struct etcd *etcd, const struct wire_kv *ledger, uint64_t commits);

/* What the key is to say: an id, if it has none; the own fabric; and when it is accepted instead of
 * another one, a new id that replaces those. Owned by the caller; NULL: it says so. */
char *identity_amended(struct etcd *etcd, const struct wire_kv *ledger, bool accept);
