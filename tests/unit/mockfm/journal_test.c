/* SPDX-License-Identifier: Apache-2.0 */
/* The mock fabric manager's state file: what was acknowledged is there again. */
#include <sys/stat.h>
#include <unistd.h>

#include "mock-fm/objects/journal.h"
#include "tests/unit/mockfm/change.h"
#include "tests/unit/unit.h"

struct disk {
    char folder[32];
    char path[48];
};

static int make_disk(void **state)
{
    struct disk *disk = calloc(1, sizeof *disk);

    if (!disk)
        return -1;
    strcpy(disk->folder, "/tmp/mockfm-XXXXXX");
    if (!mkdtemp(disk->folder))
        return -1;
    snprintf(disk->path, sizeof disk->path, "%s/state", disk->folder);
    *state = disk;
    return 0;
}

static int remove_disk(void **state)
{
    struct disk *disk = *state;
    int result;

    unlink(disk->path);
    result = rmdir(disk->folder); /* fails if a rewritten file was left behind */
    free(disk);
    return result;
}

struct holding {
    struct objects *objects;
    struct journal *journal;
};

static struct holding open_holding(const struct disk *disk)
{
    struct holding holding = {.objects = objects_create(100, false)};
    struct problem problem;

    holding.journal = journal_open(disk->path, holding.objects, &problem);
    if (!holding.journal)
        fail_msg("%s", problem.text);
    return holding;
}

static void close_holding(struct holding *holding)
{
    journal_close(holding->journal);
    objects_destroy(holding->objects);
}

/* Takes the reference. */
static void make(struct holding *holding, json_t *change)
{
    struct problem problem;

    assert_int_equal(journal_append(holding->journal, change, &problem), 0);
    assert_int_equal(objects_apply(holding->objects, change), 0);
    json_decref(change);
}

static void make_job(struct holding *holding, const char *id, uint64_t serial)
{
    make(holding, change_job(1000, id, "sess-secret", 23, serial));
}

static void make_tree(struct holding *holding, const char *job, unsigned id)
{
    make(holding,
         change_tree_at(2000, job, "/fA/fB", id, id, json_pack("[i, i]", (int)id, 0xFABCD)));
}

static void append_text(const struct disk *disk, const char *text)
{
    FILE *file = fopen(disk->path, "a");

    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    fclose(file);
}

static size_t count_lines(const struct disk *disk)
{
    FILE *file = fopen(disk->path, "r");
    size_t lines = 0;

    assert_non_null(file);
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void objects__are_there_again(void **state)
{
    struct holding holding = open_holding(*state);
    const struct job *job;
    const struct tree *tree;
    uint64_t version;

    make_job(&holding, "c-1", 1);
    make_job(&holding, "c-2", 2);
    make_job(&holding, "c-3", 3);
    make_tree(&holding, "c-1", 7);
    make_tree(&holding, "c-2", 8);
    make_tree(&holding, "c-3", 9);
    make(&holding, change_tree_gone(9000, 8));
    make(&holding, change_job_gone(0, "c-3"));
    version = objects_job(holding.objects, "c-2")->version;
    close_holding(&holding);

    /* Twice: the second start reads what the first one rewrote. */
    for (int start = 0; start < 2; start++) {
        holding = open_holding(*state);
        assert_int_equal(holding.objects->totals.jobs, 2);
        assert_int_equal(holding.objects->totals.trees, 1);
        assert_int_equal(holding.objects->totals.last_serial, 3);
        assert_int_equal(holding.objects->totals.next_mcast_id, 10);
        assert_non_null(job = objects_job(holding.objects, "c-1"));
        assert_string_equal(job->token, "sess-secret");
        assert_int_equal(job->limit, 23);
        assert_non_null(tree = holding.objects->trees[7]);
        assert_ptr_equal(tree->job, job);
        assert_string_equal(tree->step, "/fA/fB");
        assert_int_equal(tree->root, 7);
        assert_int_equal(tree->vni, 1024);
        assert_int_equal(tree->timeout_us, 20000000);
        assert_int_equal(json_array_size(tree->macs), 2);
        assert_int_equal(json_integer_value(json_array_get(tree->macs, 1)), 0xFABCD);
        assert_non_null(job = objects_job(holding.objects, "c-2"));
        assert_int_equal(job->version, version);
        assert_int_equal(job->updated_us, 9000);
        close_holding(&holding);
    }
}

/* A kill in the middle of a write leaves half a line, which nobody was told about. */
static void line__cut_short_is_dropped(void **state)
{
    struct holding holding = open_holding(*state);

    make_job(&holding, "c-1", 1);
    close_holding(&holding);
    append_text(*state, "{\"op\":\"job-gone\",\"jo");
    holding = open_holding(*state);
    assert_non_null(objects_job(holding.objects, "c-1"));
    make_job(&holding, "c-2", 2);
    close_holding(&holding);
    holding = open_holding(*state);
    assert_int_equal(holding.objects->totals.jobs, 2);
    close_holding(&holding);
}

static void file__damaged_is_refused_by_line(void **state)
{
    static const char *const damages[] = {
        "nonsense\n",
        "{\"op\":\"other\",\"at\":1}\n",
        "{\"op\":\"job-gone\",\"job\":\"nobody\",\"at\":1}\n",
        "{\"op\":\"tree\",\"job\":\"c-1\",\"step\":\"0\",\"mcastID\":9999,\"root\":1,\"vni\":1,"
        "\"timeout\":1,\"macs\":[1],\"at\":1}\n",
        "{\"op\":\"tree\",\"job\":\"c-1\",\"step\":\"0\",\"mcastID\":9,\"root\":1,\"vni\":1,"
        "\"timeout\":1,\"macs\":[1048576],\"at\":1}\n",
    };
    struct disk *disk = *state;

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        struct holding holding;
        struct objects *objects = objects_create(100, false);
        struct problem problem;
        char where[64];

        unlink(disk->path);
        holding = open_holding(disk); /* writes one line */
        make_job(&holding, "c-1", 1);
        close_holding(&holding);
        append_text(disk, damages[i]);
        assert_null(journal_open(disk->path, objects, &problem));
        snprintf(where, sizeof where, "%s:3:", disk->path);
        assert_non_null(strstr(problem.text, where));
        objects_destroy(objects);
    }
}

static void file__belongs_to_one_process(void **state)
{
    struct disk *disk = *state;
    struct holding holding = open_holding(disk);
    struct objects *objects = objects_create(100, false);
    struct problem problem;

    assert_null(journal_open(disk->path, objects, &problem));
    assert_non_null(strstr(problem.text, "in use"));
    close_holding(&holding);
    objects_destroy(objects);
}

static void file__is_the_owners_only(void **state)
{
    struct disk *disk = *state;
    struct holding holding = open_holding(disk);
    struct stat status;

    make_job(&holding, "c-1", 1);
    assert_int_equal(stat(disk->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    close_holding(&holding);
}

static void file__stays_short(void **state)
{
    enum { ROUNDS = 60000 };
    struct disk *disk = *state;
    struct holding holding = open_holding(disk);

    make_job(&holding, "stays-1", 1);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        make_job(&holding, "c-1", i + 2);
        make(&holding, change_job_gone(0, "c-1"));
    }
    assert_true(count_lines(disk) < ROUNDS);
    close_holding(&holding);
    holding = open_holding(disk);
    assert_int_equal(holding.objects->totals.jobs, 1);
    assert_int_equal(holding.objects->totals.last_serial, ROUNDS + 1);
    assert_int_equal(count_lines(disk), 2);
    close_holding(&holding);
}

static void folder__missing_is_a_problem(void **state)
{
    struct objects *objects = objects_create(100, false);
    struct problem problem;

    assert_null(journal_open("/nonexistent/state", objects, &problem));
    assert_non_null(strstr(problem.text, "/nonexistent/state"));
    objects_destroy(objects);
}

#define WITH_DISK(test) cmocka_unit_test_setup_teardown(test, make_disk, remove_disk)

UNIT_MAIN(WITH_DISK(objects__are_there_again), WITH_DISK(line__cut_short_is_dropped),
          WITH_DISK(file__damaged_is_refused_by_line), WITH_DISK(file__belongs_to_one_process),
          WITH_DISK(file__is_the_owners_only), WITH_DISK(file__stays_short),
          cmocka_unit_test(folder__missing_is_a_problem))
