/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* The key that seals secrets in the ledger, and the file that it is kept in ([state] key_file).
 *
 * The file: 32 random bytes as 64 hexadecimal digits on one line, mode 0600 or less, owned by the
 * user of mcastd or by root. `openssl rand -hex 32` makes one as well as we do. */

enum { SEAL_KEY_SIZE = 32 };

struct seal_key {
    unsigned char bytes[SEAL_KEY_SIZE];
};

/* Creates a key file; arguments and errors as guardedfile_create. */
int seal_key_create(const char *path, uid_t owner, gid_t group, struct error *err);

/* ERROR_NOT_FOUND: there is no such file. ERROR_REFUSED: others may read or change it.
 * ERROR_CORRUPT: it holds no key, or is no file. ERROR_IO. The key is to be wiped. */
int seal_key_read(const char *path, struct seal_key *key, struct error *err);

void seal_key_wipe(struct seal_key *key);
