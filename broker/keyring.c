/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/keyring.h"

#include "base/memory.h"
#include "core/reservation/reservation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A key that was replaced may have been used for so long after, by a process that had not
 * read the file again, and clocks are set back at times. A key kept too long costs one line. */
enum { LAG_S = 3600 };

struct keyring {
    char *path;  /* NULL: none */
    bool own;    /* its keys were made by this process */
    bool shared; /* they are in the ledger, for all brokers, or are to be */
    bool loaded; /* from there */
    uint64_t rotations;
    struct rootkeys keys;
};

static int open_file(struct keyring *keyring, const char *path, int64_t now, struct error *err)
{
    keyring->path = memory_text(path);
    int rc = rootkeys_read(path, &keyring->keys, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    keyring->own = true;
    rc = rootkeys_create(path, now, (uid_t)-1, (gid_t)-1, err);
    return rc < 0 ? rc : rootkeys_read(path, &keyring->keys, err);
}

struct keyring *keyring_open(const char *path, int64_t now, struct error *err)
{
    struct keyring *keyring = memory_zeroed(sizeof *keyring);
    int rc = path ? open_file(keyring, path, now, err) : rootkeys_add(&keyring->keys, now, err);
    if (rc == 0)
        return keyring;
    keyring_close(keyring);
    return NULL;
}

void keyring_close(struct keyring *keyring)
{
    if (!keyring)
        return;
    rootkeys_wipe(&keyring->keys);
    free(keyring->path);
    free(keyring);
}

const struct rootkeys *keyring_keys(const struct keyring *keyring)
{
    return &keyring->keys;
}

int keyring_read(const struct keyring *keyring, struct rootkeys *keys, struct error *err)
{
    if (keyring->path)
        return rootkeys_read(keyring->path, keys, err);
    *keys = keyring->keys;
    return 0;
}

uint64_t keyring_rotations(const struct keyring *keyring)
{
    return keyring->rotations;
}

void keyring_adopt(struct keyring *keyring, struct rootkeys *keys)
{
    keyring->keys = *keys;
    rootkeys_wipe(keys);
}

/* ---- in the ledger of several brokers ---- */

void keyring_share(struct keyring *keyring)
{
    assert(!keyring->path);
    keyring->shared = true;
}

bool keyring_shared(const struct keyring *keyring)
{
    return keyring->shared;
}

bool keyring_loaded(const struct keyring *keyring)
{
    return keyring->loaded;
}

int keyring_load(struct keyring *keyring, const struct record *record, struct error *err)
{
    struct rootkeys keys;
    assert(keyring->shared && record->kind == RECORD_ROOT_KEYS);
    const char *kept = secret_expose(record->u.root_keys);
    if (rootkeys_parse(kept, strlen(kept), &keys) > 0)
        return error_set(err, ERROR_CORRUPT, "the root keys are no root keys");
    keyring->rotations++; /* what a reload has read meanwhile is older */
    keyring->loaded = true;
    keyring_adopt(keyring, &keys);
    return 0;
}

void keyring_save(struct keyring *keyring, void (*save)(void *arg, const struct record *record),
                  void *arg)
{
    char text[ROOTKEYS_TEXT_SIZE];
    assert(keyring->shared);
    (void)rootkeys_format(&keyring->keys, text);
    const struct record record = {.kind = RECORD_ROOT_KEYS, .u.root_keys = secret_of(text)};
    save(arg, &record);
    explicit_bzero(text, sizeof text);
    keyring->loaded = true;
}

/* ---- rotating ---- */

static void note_created(void *arg, const struct reservation *reservation)
{
    *(int64_t *)arg = reservation->created_ms;
}

/* When the oldest active reservation was made, in Unix seconds; INT64_MAX: there is none. */
static int64_t oldest_active(const struct core *core)
{
    struct core_filter filter = {.state = JOB_ACTIVE, .uid = -1, .limit = 1};
    int64_t created_ms = INT64_MAX;
    do
        filter.after = core_page(core, &filter, note_created, &created_ms);
    while (created_ms == INT64_MAX && filter.after != 0);
    return created_ms == INT64_MAX ? INT64_MAX : created_ms / 1000;
}

static bool key_needed(void *arg, const struct rootkey *key, int64_t replaced)
{
    const int64_t *oldest = arg;
    (void)key;
    return *oldest <= replaced + LAG_S;
}

/* oldest: of the reservations that tokens may be for, or INT64_MAX. */
static int rotate_file(struct keyring *keyring, int64_t now, int64_t oldest, struct error *err)
{
    struct rootkeys keys;
    int rc = rootkeys_rotate(keyring->path, now, key_needed, &oldest, err);
    if (rc == 0)
        rc = rootkeys_read(keyring->path, &keys, err);
    if (rc < 0)
        return rc;
    keyring->rotations++;
    keyring_adopt(keyring, &keys);
    return 0;
}

static int rotate_shared(struct keyring *keyring, int64_t now, int64_t oldest, struct error *err)
{
    struct rootkeys keys = keyring->keys;
    int rc = rootkeys_renew(&keys, now, key_needed, &oldest, err);
    if (rc == 0) {
        keyring->rotations++;
        keyring_adopt(keyring, &keys);
    }
    rootkeys_wipe(&keys);
    return rc;
}

int keyring_rotate(struct keyring *keyring, const struct core *core, int64_t now, struct error *err)
{
    if (keyring->shared)
        return rotate_shared(keyring, now, oldest_active(core), err);
    if (!keyring->path)
        return error_set(err, ERROR_REFUSED,
                         "store = memory keeps no root keys: they are new at each start, so "
                         "restart mcastd instead");
    return rotate_file(keyring, now, oldest_active(core), err);
}

int keyring_renew(struct keyring *keyring, int64_t now, struct error *err)
{
    struct error why = {0};
    if (!keyring->path || keyring->own)
        return 0;
    int rc = rotate_file(keyring, now, INT64_MAX, &why);
    if (rc < 0)
        return error_set(err, rc,
                         "the ledger is new, and root keys of an earlier one cannot be replaced: "
                         "%s",
                         why.text);
    keyring->own = true;
    return 1;
}
