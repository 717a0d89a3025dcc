#ifndef MCAST_TOKENS_ROOTKEYS_H
#define MCAST_TOKENS_ROOTKEYS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The keys that bearer tokens are made with, and the file that they are kept in: the newest makes
 * tokens, the older ones still verify those that they made.
 *
 * The file: one line a key, the newest last, mode 0600 or less, owned by the user of mcastd or by
 * root:
 *
 *   id, 16 hexadecimal digits | space | made, Unix seconds | space | key, 64 hexadecimal digits
 *
 * The id follows from the key: the first 8 bytes of SHA-256("mcastd root key id", NUL, the key). So
 * a damaged line shows, and no two keys are ever taken for each other. */

enum {
    ROOTKEY_SIZE = 32,
    ROOTKEY_ID_SIZE = 8,
    ROOTKEYS_MAX = 16,
};

struct rootkey {
    unsigned char id[ROOTKEY_ID_SIZE];
    int64_t made; /* Unix seconds; never before that of the key before it */
    unsigned char bytes[ROOTKEY_SIZE];
};

struct rootkeys {
    size_t count; /* from 1 */
    struct rootkey keys[ROOTKEYS_MAX];
};

/* Makes a file with one key, for this user and group ((uid_t)-1, (gid_t)-1: those of the process).
 * ERROR_REFUSED: there is a file of this name already, which stays. ERROR_FULL, ERROR_IO. */
int rootkeys_create(const char *path, int64_t now, uid_t owner, gid_t group, struct error *err);

/* ERROR_NOT_FOUND: there is no such file. ERROR_REFUSED: others may read or change it.
 * ERROR_CORRUPT: it is not as this program writes it. ERROR_IO. To be wiped. */
int rootkeys_read(const char *path, struct rootkeys *keys, struct error *err);

/* Whether tokens of a key may still be shown. replaced: when the next key was made, in Unix
 * seconds. Until whoever makes tokens has read the new file, the old key goes on making some: who
 * answers adds that time. */
typedef bool rootkeys_needed_fn(void *arg, const struct rootkey *key, int64_t replaced);

/* Adds a new key and drops those before it that are not needed (needed NULL: all are), all at once
 * and durable, for the file's user and group. The file alone changes: who has read it reads it
 * again. One rotation at a time, whoever makes it. ERROR_FULL: ROOTKEYS_MAX keys are needed, or the
 * disk is full; and what rootkeys_read returns. Whatever fails, the file is as it was or as it
 * shall be. */
int rootkeys_rotate(const char *path, int64_t now, rootkeys_needed_fn *needed, void *arg,
                    struct error *err);

/* The key that makes tokens. */
const struct rootkey *rootkeys_current(const struct rootkeys *keys);

/* NULL: there is none with this id. */
const struct rootkey *rootkeys_find(const struct rootkeys *keys, const unsigned char *id);

void rootkeys_wipe(struct rootkeys *keys);

#endif
