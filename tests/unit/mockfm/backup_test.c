/* SPDX-License-Identifier: Apache-2.0 */
/* An old state put back: what was there then, and nothing else, also after a restart. */
#include <unistd.h>

#include "mock-fm/objects/fabric.h"
#include "tests/unit/mockfm/change.h"
#include "tests/unit/unit.h"

struct disk {
    char folder[32], path[48];
    struct fabric fabric;
};

static void open_fabric(struct disk *disk)
{
    struct problem problem;

    disk->fabric = (struct fabric){.objects = objects_create(100, false)};
    disk->fabric.journal = journal_open(disk->path, disk->fabric.objects, &problem);
    assert_non_null(disk->fabric.journal);
}

static void close_fabric(struct disk *disk)
{
    journal_close(disk->fabric.journal);
    objects_destroy(disk->fabric.objects);
}

static int set_up(void **state)
{
    struct disk *disk = calloc(1, sizeof *disk);

    if (!disk)
        return -1;
    strcpy(disk->folder, "/tmp/mockfm-XXXXXX");
    if (!mkdtemp(disk->folder))
        return -1;
    snprintf(disk->path, sizeof disk->path, "%s/state", disk->folder);
    open_fabric(disk);
    *state = disk;
    return 0;
}

static int tear_down(void **state)
{
    struct disk *disk = *state;

    close_fabric(disk);
    unlink(disk->path);
    rmdir(disk->folder);
    free(disk);
    return 0;
}

static void apply(struct disk *disk, json_t *change)
{
    struct problem problem;

    assert_int_equal(fabric_commit(&disk->fabric, change, &problem), 0);
}

static void reserve(struct disk *disk, const char *id, const char *token)
{
    apply(disk, change_job(7, id, token, 4, disk->fabric.objects->totals.last_serial + 1));
}

static void grow(struct disk *disk, const char *id, const char *step, unsigned mcast_id)
{
    int first = (int)mcast_id * 2;

    apply(disk, change_tree_at(8, id, step, mcast_id, (uint32_t)first,
                               json_pack("[i, i]", first, first + 1)));
}

/* c-1 with one tree and c-2 without. */
static void assert_then(const struct disk *disk)
{
    const struct objects *objects = disk->fabric.objects;
    const struct job *job = objects_job(objects, "c-1");
    struct objects_totals totals = objects->totals;

    assert_int_equal(totals.jobs, 2);
    assert_int_equal(totals.trees, 1);
    assert_int_equal(totals.reserved, 8);
    assert_int_equal(totals.last_serial, 2);
    assert_int_equal(totals.next_mcast_id, 4);
    assert_non_null(job);
    assert_string_equal(job->token, "sess-1");
    assert_int_equal(job->version, 1);
    assert_int_equal(job->updated_us, 8);
    assert_non_null(objects_job(objects, "c-2"));
    assert_non_null(objects->trees[3]);
    assert_string_equal(objects->trees[3]->step, "0");
}

static void backup__puts_back_what_was(void **state)
{
    struct disk *disk = *state;
    struct objects *backup;
    struct problem problem;

    reserve(disk, "c-1", "sess-1");
    grow(disk, "c-1", "0", 3);
    reserve(disk, "c-2", "sess-2");
    assert_non_null(backup = objects_copy(disk->fabric.objects));
    /* c-1 goes and comes again with another token; c-3 is new; the tree is another job's. */
    apply(disk, change_job_gone(0, "c-1"));
    reserve(disk, "c-1", "sess-9");
    reserve(disk, "c-3", "sess-3");
    grow(disk, "c-3", "1", 3);
    grow(disk, "c-3", "1", 4);
    for (int i = 0; i < 2; i++) { /* it can be used again */
        assert_int_equal(fabric_restore(&disk->fabric, backup, 9, &problem), 0);
        assert_then(disk);
        assert_null(objects_job(disk->fabric.objects, "c-3"));
        reserve(disk, "c-4", "sess-4");
    }
    assert_int_equal(fabric_restore(&disk->fabric, backup, 9, &problem), 0);
    close_fabric(disk);
    open_fabric(disk);
    assert_then(disk);
    objects_destroy(backup);
}

static void backup__of_nothing_empties(void **state)
{
    struct disk *disk = *state;
    struct objects *backup = objects_copy(disk->fabric.objects);
    struct problem problem;

    assert_non_null(backup);
    reserve(disk, "c-1", "sess-1");
    assert_int_equal(fabric_restore(&disk->fabric, backup, 9, &problem), 0);
    assert_int_equal(disk->fabric.objects->totals.jobs, 0);
    assert_int_equal(disk->fabric.objects->totals.last_serial, 0);
    objects_destroy(backup);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(backup__puts_back_what_was, set_up, tear_down),
          cmocka_unit_test_setup_teardown(backup__of_nothing_empties, set_up, tear_down))
