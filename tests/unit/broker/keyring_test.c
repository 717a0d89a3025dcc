/* SPDX-License-Identifier: Apache-2.0 */
/* The root keys in force (B3): made, read again, and rotated as long as reservations live. */

#include "tests/unit/unit.h"

#include "broker/keyring.h"
#include "tests/coreconfig.h"
#include "tests/system/rig/folder.h"

#include <sys/stat.h>

enum { HOUR = 3600 };

struct place {
    char folder[FOLDER_PATH_SIZE], path[128];
    struct core_config config;
    struct core *core;
};

static int setup(void **state)
{
    static struct place place;
    assert_int_equal(folder_create(place.folder), 0);
    folder_path(place.path, sizeof place.path, place.folder, "root.keys");
    coreconfig_init(&place.config);
    place.core = core_create(&place.config);
    *state = &place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;
    core_destroy(place->core);
    folder_destroy(place->folder);
    return 0;
}

/* A reservation that was made at this time, Unix seconds. */
static void load(struct place *place, uint64_t number, enum job_state job_state, int64_t created)
{
    char job[32];
    struct error err = {0};
    (void)snprintf(job, sizeof job, "f%u", (unsigned)number);
    const struct record record = {.kind = RECORD_RESERVATION,
                                  .u.reservation = {.number = number,
                                                    .cluster = "elcap",
                                                    .job = job,
                                                    .uid = 7,
                                                    .node_count = 8,
                                                    .wish = WISH_OFF,
                                                    .hwcoll = HWCOLL_OFF,
                                                    .state = (uint8_t)job_state,
                                                    .released_ms = job_state == JOB_ACTIVE ? 0 : 1,
                                                    .created_ms = created * 1000}};
    if (core_load(place->core, &record, &err) < 0)
        fail_msg("%s", err.text);
}

#define IN_A_PLACE(test) UNIT_WITH(test, setup, teardown)

IN_A_PLACE(ring__is_made_guarded_and_found_again)
{
    const struct place *place = *state;
    struct error err = {0};
    struct stat found;
    struct keyring *first = keyring_open(place->path, 100, &err);
    assert_non_null(first);
    assert_int_equal(stat(place->path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
    struct keyring *second = keyring_open(place->path, 200, &err);
    assert_non_null(second);
    assert_memory_equal(rootkeys_current(keyring_keys(first)),
                        rootkeys_current(keyring_keys(second)), sizeof(struct rootkey));
    keyring_close(first);
    keyring_close(second);
}

IN_A_PLACE(ring__that_others_may_read_is_refused)
{
    const struct place *place = *state;
    struct error err = {0};
    struct keyring *keyring = keyring_open(place->path, 100, &err);
    assert_non_null(keyring);
    assert_int_equal(chmod(place->path, 0640), 0);
    assert_null(keyring_open(place->path, 100, &err));
    assert_int_equal(err.code, ERROR_REFUSED);
    assert_non_null(strstr(err.text, "chmod 0600"));

    struct rootkeys keys;
    assert_int_equal(keyring_read(keyring, &keys, &err), ERROR_REFUSED);
    assert_int_equal(keyring_rotate(keyring, place->core, 200, &err), ERROR_REFUSED);
    assert_int_equal(keyring_keys(keyring)->count, 1); /* and goes on with what it has */
    keyring_close(keyring);
}

IN_A_PLACE(ring__without_a_file_ends_with_the_process)
{
    const struct place *place = *state;
    struct error err = {0};
    struct rootkeys keys;
    struct keyring *one = keyring_open(NULL, 100, &err), *two = keyring_open(NULL, 100, &err);
    assert_non_null(one);
    assert_non_null(two);
    assert_memory_not_equal(rootkeys_current(keyring_keys(one))->bytes,
                            rootkeys_current(keyring_keys(two))->bytes, ROOTKEY_SIZE);
    assert_int_equal(keyring_read(one, &keys, &err), 0);
    keyring_adopt(one, &keys);
    assert_int_equal(keyring_keys(one)->count, 1);
    assert_int_equal(keyring_rotate(one, place->core, 200, &err), ERROR_REFUSED);
    keyring_close(one);
    keyring_close(two);
}

IN_A_PLACE(ring__is_read_again_when_it_is_adopted)
{
    const struct place *place = *state;
    struct error err = {0};
    struct rootkeys keys;
    struct keyring *keyring = keyring_open(place->path, 100, &err);
    assert_non_null(keyring);
    assert_int_equal(rootkeys_rotate(place->path, 200, NULL, NULL, &err), 0); /* by hand */
    assert_int_equal(keyring_read(keyring, &keys, &err), 0);
    assert_int_equal(keyring_keys(keyring)->count, 1);
    keyring_adopt(keyring, &keys);
    assert_int_equal(keyring_keys(keyring)->count, 2);
    assert_int_equal(keys.count, 0); /* wiped */
    keyring_close(keyring);
}

/* Keys that were replaced long before the oldest active reservation began made none of its tokens.
 */
IN_A_PLACE(rotation__keeps_what_living_tokens_were_made_with)
{
    struct place *place = *state;
    struct error err = {0};
    struct keyring *keyring = keyring_open(place->path, 100, &err);
    assert_non_null(keyring);
    load(place, 1, JOB_RELEASING, 50);
    load(place, 2, JOB_ACTIVE, 10 * HOUR);
    load(place, 3, JOB_ACTIVE, 30 * HOUR);
    const int64_t times[] = {2 * HOUR, 9 * HOUR + 1, 20 * HOUR, 40 * HOUR};
    /* The first one is replaced eight hours before the oldest active one began, the second one less
     * than an hour before: clocks may differ by that. */
    const size_t counts[] = {1, 2, 3, 4};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(keyring_rotate(keyring, place->core, times[i], &err), 0);
        assert_int_equal(rootkeys_current(keyring_keys(keyring))->made, times[i]);
        if (keyring_keys(keyring)->count != counts[i])
            fail_msg("rotation %zu: %zu keys", i, keyring_keys(keyring)->count);
    }
    keyring_close(keyring);
}

IN_A_PLACE(rotation__of_too_many_that_are_needed_is_refused)
{
    struct place *place = *state;
    struct error err = {0};
    struct keyring *keyring = keyring_open(place->path, 100, &err);
    assert_non_null(keyring);
    load(place, 1, JOB_ACTIVE, 50);
    for (int i = 1; i < ROOTKEYS_MAX; i++)
        assert_int_equal(keyring_rotate(keyring, place->core, 100 + i, &err), 0);
    assert_int_equal(keyring_keys(keyring)->count, ROOTKEYS_MAX);
    assert_int_equal(keyring_rotate(keyring, place->core, 1000, &err), ERROR_FULL);
    assert_int_equal(keyring_keys(keyring)->count, ROOTKEYS_MAX);
    keyring_close(keyring);
}

/* What is there may be of a ledger that is lost; what this process made is not. */
IN_A_PLACE(renewal__leaves_nothing_of_before)
{
    struct place *place = *state;
    struct error err = {0};
    struct rootkeys before, file;
    struct keyring *keyring = keyring_open(place->path, 100, &err);
    assert_non_null(keyring);
    assert_int_equal(keyring_renew(keyring, 200, &err), 0); /* made just now */
    assert_int_equal(rootkeys_current(keyring_keys(keyring))->made, 100);
    load(place, 1, JOB_ACTIVE, 50);
    assert_int_equal(keyring_rotate(keyring, place->core, 150, &err), 0);
    before = *keyring_keys(keyring);
    assert_int_equal(before.count, 2);
    keyring_close(keyring);

    keyring = keyring_open(place->path, 300, &err);
    assert_non_null(keyring);
    assert_int_equal(keyring_renew(keyring, 300, &err), 1);
    assert_int_equal(keyring_keys(keyring)->count, 1);
    for (size_t i = 0; i < before.count; i++)
        assert_null(rootkeys_find(keyring_keys(keyring), before.keys[i].id));
    assert_int_equal(rootkeys_read(place->path, &file, &err), 0);
    assert_int_equal(file.count, 1);
    assert_memory_equal(&file.keys[0], rootkeys_current(keyring_keys(keyring)),
                        sizeof file.keys[0]);
    assert_int_equal(keyring_renew(keyring, 400, &err), 0); /* once */
    rootkeys_wipe(&before);
    rootkeys_wipe(&file);
    keyring_close(keyring);
}

IN_A_PLACE(renewal__that_cannot_be_kept_is_told)
{
    struct place *place = *state;
    struct error err = {0};
    struct keyring *keyring = keyring_open(place->path, 100, &err);
    assert_non_null(keyring);
    keyring_close(keyring);
    keyring = keyring_open(place->path, 200, &err);
    assert_non_null(keyring);
    assert_int_equal(chmod(place->path, 0644), 0);
    assert_int_equal(keyring_renew(keyring, 200, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "the ledger is new"));
    assert_non_null(strstr(err.text, "chmod 0600"));
    keyring_close(keyring);

    keyring = keyring_open(NULL, 100, &err);
    assert_non_null(keyring);
    assert_int_equal(keyring_renew(keyring, 200, &err), 0); /* there is no file */
    keyring_close(keyring);
}

static void keep_text(void *arg, const struct record *record)
{
    assert_int_equal(record->kind, RECORD_ROOT_KEYS);
    (void)snprintf(arg, ROOTKEYS_TEXT_SIZE, "%s", secret_expose(record->u.root_keys));
}

/* B7: what one broker saved is in force at the next, and so is each rotation. */
IN_A_PLACE(ring__of_several_brokers_is_in_their_ledger)
{
    struct place *place = *state;
    struct error err = {0};
    char text[ROOTKEYS_TEXT_SIZE];
    struct keyring *first = keyring_open(NULL, 100, &err), *second = keyring_open(NULL, 100, &err);
    const struct record kept = {.kind = RECORD_ROOT_KEYS, .u.root_keys = secret_of(text)};
    keyring_share(first);
    keyring_share(second);
    assert_false(keyring_loaded(first));
    load(place, 1, JOB_ACTIVE, 50);
    keyring_save(first, keep_text, text);
    assert_true(keyring_loaded(first));
    assert_int_equal(keyring_rotate(first, place->core, 200, &err), 0);
    keyring_save(first, keep_text, text);
    assert_int_equal(keyring_load(second, &kept, &err), 0);
    assert_int_equal(keyring_keys(second)->count, 2);
    assert_memory_equal(keyring_keys(second)->keys, keyring_keys(first)->keys,
                        2 * sizeof(struct rootkey));
    const uint64_t rotations = keyring_rotations(second);
    assert_true(rotations > 0); /* a reload that has read the ring before changes nothing */
    text[0] = 'x';
    assert_int_equal(keyring_load(second, &kept, &err), ERROR_CORRUPT);
    assert_int_equal(keyring_keys(second)->count, 2);
    keyring_close(first);
    keyring_close(second);
}

UNIT_RUN(NULL, NULL)
