/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tokens/rootkeys.h"

#include <stdint.h>

/* The root keys that this broker makes and verifies its bearer tokens with (tokens/issuer.h), and
 * their file ([broker] root_key_file), which a rotation changes and a reload reads again. */

struct keyring;

/* Reads the file, which is made when there is none. path NULL: a key that ends with the process,
 * for a broker that forgets its reservations as well: their numbers begin anew, and an old token
 * must not fit a new job. now: Unix seconds. NULL with a sentence. */
struct keyring *keyring_open(const char *path, int64_t now, struct error *err);
void keyring_close(struct keyring *keyring); /* wipes; NULL is allowed */

/* For a ledger that has given no reservation a number yet: keys that were there before this process
 * may have made tokens of an earlier ledger, now lost, and those would fit jobs that get the same
 * numbers again. A key of this moment replaces them all, on disk before it is in force. 1: they
 * were replaced; 0: there were none, or no file; negative with a sentence. */
int keyring_renew(struct keyring *keyring, int64_t now, struct error *err);

/* The keys in force; valid until the ring changes. */
const struct rootkeys *keyring_keys(const struct keyring *keyring);

/* Reading the file again, in two steps as all that is reloaded: keyring_read changes nothing and is
 * for any thread, 0 or a code with a sentence; keyring_adopt puts what was read in force and wipes
 * it. A rotation in between has read the file later: see keyring_rotations. */
int keyring_read(const struct keyring *keyring, struct rootkeys *keys, struct error *err);
uint64_t keyring_rotations(const struct keyring *keyring);
void keyring_adopt(struct keyring *keyring, struct rootkeys *keys);

/* ---- of several brokers: the keys are in the ledger that they share (RECORD_ROOT_KEYS) ---- */

/* For a ring that was opened without a path: its keys are to be those of the ledger. */
void keyring_share(struct keyring *keyring);
bool keyring_shared(const struct keyring *keyring);
/* The ledger's, in force from here on. 0, or ERROR_CORRUPT with a sentence. */
int keyring_load(struct keyring *keyring, const struct record *record, struct error *err);
bool keyring_loaded(const struct keyring *keyring); /* or saved */
/* Saves those in force. What was made with a new key may be told when that is durable. */
void keyring_save(struct keyring *keyring, void (*save)(void *arg, const struct record *record),
                  void *arg);

/* A new key makes tokens from now on, on disk before it is in force (one that is shared: the caller
 * saves it next). Those before it go as soon as
 * no active reservation is older than the key that came after them: nothing that they were used for
 * lives any more. ERROR_REFUSED: there is no file, so there is nothing to rotate; and what
 * rootkeys_rotate returns. */
int keyring_rotate(struct keyring *keyring, const struct core *core, int64_t now,
                   struct error *err);
