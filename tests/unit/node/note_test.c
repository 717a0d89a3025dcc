/* SPDX-License-Identifier: Apache-2.0 */
/* What the node remembers of what it made (F3, F10). */

#include "node/record/note.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct statedir dir;

static int set_up(void **state)
{
    struct error err;
    char path[80];
    snprintf(folder, sizeof folder, "/tmp/node_note_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/spool", folder); /* it is made */
    return statedir_open(&dir, path, true, &err);
}

static int tear_down(void **state)
{
    char command[96];
    statedir_close(&dir);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct note example(uint64_t number, const char *job)
{
    struct note note = {.claim = {.cluster = "elcap",
                                  .number = number,
                                  .uid = 5588,
                                  .vni_count = 2,
                                  .vnis = {1024, 1025}},
                        .node = "elcap17",
                        .state = NOTE_MADE,
                        .owed = true,
                        .order = 1790000000000,
                        .service_count = 2,
                        .services = {{"cxi0", 12}, {"cxi1", 7}}};
    snprintf(note.claim.job, sizeof note.claim.job, "%s", job);
    snprintf(note.boot, sizeof note.boot, "%s", statedir_boot());
    return note;
}

static void write_file(const char *name, const char *text)
{
    struct error err;
    assert_int_equal(statedir_write(&dir, name, text, &err), 0);
}

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

TEST(note__comes_back_as_it_was)
{
    struct error err;
    struct note note = example(4711, "f17"), back;
    assert_int_equal(note_write(&dir, &note, &err), 0);
    assert_int_equal(note_read(&dir, 4711, &back, &err), 0);
    assert_string_equal(back.claim.cluster, "elcap");
    assert_string_equal(back.claim.job, "f17");
    assert_int_equal(back.claim.number, 4711);
    assert_int_equal(back.claim.uid, 5588);
    assert_int_equal(back.claim.vni_count, 2);
    assert_int_equal(back.claim.vnis[1], 1025);
    assert_false(back.postponed);
    assert_string_equal(back.node, "elcap17");
    assert_int_equal(back.state, NOTE_MADE);
    assert_true(back.owed);
    assert_int_equal(back.order, 1790000000000);
    assert_true(note_is_current(&back));
    assert_int_equal(back.service_count, 2);
    assert_string_equal(back.services[1].device, "cxi1");
    assert_int_equal(back.services[1].id, 7);
    assert_int_equal(note_remove(&dir, 4711, &err), 0);
    assert_int_equal(note_remove(&dir, 4711, &err), 0);
    assert_int_equal(note_read(&dir, 4711, &back, &err), ERROR_NOT_FOUND);
}

TEST(note__of_an_earlier_start_is_not_current)
{
    struct note note = example(1, "f1");
    snprintf(note.boot, sizeof note.boot, "11111111-2222-3333-4444-555555555555");
    assert_false(note_is_current(&note));
}

/* I1: what is told later has a higher order, by the clock and past it. */
TEST(note__is_owed_in_order)
{
    struct note note = example(1, "f1");
    note.owed = false;
    note_owe(&note);
    uint64_t first = note.order;
    assert_true(note.owed);
    assert_true(first > 1790000000000);
    note_owe(&note);
    assert_true(note.order > first);
    note.order = first + 3600000; /* the clock was set back */
    note_owe(&note);
    assert_int_equal(note.order, first + 3600001);
}

static unsigned int mode_of(const char *name)
{
    char path[120];
    struct stat status;
    snprintf(path, sizeof path, "%s/spool/%s", folder, name);
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777U;
}

/* B8: whose jobs run here, and on which VNIs, is no other user's to read; an older release let
 * everybody. */
TEST(notes__are_for_nobody_else_to_read)
{
    struct error err;
    struct notes notes;
    struct statedir again;
    char path[120];
    struct note note = example(4711, "f17");
    assert_int_equal(note_write(&dir, &note, &err), 0);
    assert_int_equal(mode_of(""), 0700);
    assert_int_equal(mode_of("4711.json"), 0600);
    assert_int_equal(mode_of("lock"), 0600);
    snprintf(path, sizeof path, "%s/spool/4711.json", folder);
    assert_int_equal(chmod(path, 0644), 0);
    snprintf(path, sizeof path, "%s/spool", folder);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(statedir_open(&again, path, true, &err), 0);
    assert_int_equal(notes_load(&notes, &again, &err), 0);
    assert_int_equal(notes.count, 1);
    notes_release(&notes);
    statedir_close(&again);
    assert_int_equal(mode_of(""), 0700);
    assert_int_equal(mode_of("4711.json"), 0600);
    /* One of another user's: he could read and write whatever its mode. */
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, 4711, 4711), 0);
    assert_int_equal(statedir_open(&again, path, true, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "it belongs to uid 4711"));
}

/* F9: with growing pauses, up to an hour. */
TEST(note__is_due_after_growing_pauses)
{
    struct error err;
    struct note note = example(1, "f1"), back;
    const int64_t begin = 5000, hour = 3600 * 1000;
    int64_t pause = 30 * 1000;
    assert_true(note_is_due(&note, 0));
    for (int i = 0; i < 7; i++, pause *= 2) {
        note_tried(&note, begin);
        assert_false(note_is_due(&note, begin + pause - 1));
        assert_true(note_is_due(&note, begin + pause));
    }
    for (int i = 0; i < 2000; i++)
        note_tried(&note, begin);
    assert_false(note_is_due(&note, begin + hour - 1));
    assert_true(note_is_due(&note, begin + hour));
    assert_int_equal(note_write(&dir, &note, &err), 0);
    assert_int_equal(note_read(&dir, 1, &back, &err), 0);
    assert_int_equal(back.tries, note.tries);
    assert_int_equal(back.tried_ms, begin);
}

TEST(note__reports_have_words)
{
    assert_null(note_report_word(NOTE_INTENDED));
    assert_string_equal(note_report_word(NOTE_MADE), "created");
    assert_string_equal(note_report_word(NOTE_LINGERING), "lingering");
    assert_string_equal(note_report_word(NOTE_GONE), "destroyed");
}

TEST(note__what_it_never_wrote_is_refused)
{
    struct note note = example(4711, "f17"), back;
    char *whole = note_format(&note);
    struct error err;
    /* Every truncation, such as a full disk or a crash would leave. */
    for (size_t length = strlen(whole); length-- > 0;) {
        char *cut = strndup(whole, length);
        assert_int_equal(note_parse(&back, cut, &err), ERROR_CORRUPT);
        free(cut);
    }
    static const char *const wrong[][2] = {
        {"\"elcap\"", "\"El-Cap\""},
        {"4711", "-1"},
        {"5588", "-5588"},
        {"1025", "65536"},
        {"\"made\"", "\"mad\""},
        {"true", "1"},
        {"\"cxi0\"", "\"a_name_of_cxi_too_long\""},
        {"\"id\": 12", "\"id\": 0"},
        {"\"f17\"", "\"f 17\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[2048];
        const char *at = strstr(whole, wrong[i][0]);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, wrong[i][1],
                 at + strlen(wrong[i][0]));
        assert_int_equal(note_parse(&back, text, &err), ERROR_CORRUPT);
    }
    free(whole);
}

TEST(notes__are_by_number_and_damaged_ones_are_counted)
{
    struct error err;
    struct notes notes;
    const uint64_t numbers[] = {20, 3, 100};
    for (size_t i = 0; i < 3; i++) {
        struct note note = example(numbers[i], i == 1 ? "f3" : "f17");
        note.services[0].id = (unsigned int)numbers[i];
        assert_int_equal(note_write(&dir, &note, &err), 0);
    }
    write_file("7.json", "{");
    write_file("8.json", ""); /* the machine went down before it was on disk */
    write_file("notes.txt", "not ours");
    write_file(".new.1", "half a");
    assert_int_equal(notes_load(&notes, &dir, &err), 0);
    assert_int_equal(notes.count, 3);
    assert_int_equal(notes.damaged, 1);
    assert_string_equal(notes.damaged_name, "7.json");
    /* What is there now may be a new one: only the first process of a boot removes them. */
    struct boot boot;
    assert_int_equal(faccessat(dir.directory, "8.json", F_OK, 0), 0);
    assert_int_equal(boot_open(&boot, &dir, &notes, &err), 0);
    assert_int_equal(faccessat(dir.directory, "8.json", F_OK, 0), -1);
    assert_int_equal(faccessat(dir.directory, "7.json", F_OK, 0), 0);
    write_file("8.json", "");
    assert_int_equal(boot_open(&boot, &dir, &notes, &err), 0);
    assert_int_equal(faccessat(dir.directory, "8.json", F_OK, 0), 0);
    assert_int_equal(notes.at[0].claim.number, 3);
    assert_int_equal(notes.at[2].claim.number, 100);
    assert_int_equal(notes_newest(&notes, NULL, "f17")->claim.number, 100);
    assert_int_equal(notes_newest(&notes, "elcap", "f3")->claim.number, 3);
    assert_null(notes_newest(&notes, "tuolumne", "f3"));
    assert_int_equal(notes_holder(&notes, "cxi0", 20)->claim.number, 20);
    assert_null(notes_holder(&notes, "cxi2", 20));
    notes_release(&notes);
}

TEST(notes__gone_and_old_ones_hold_nothing)
{
    struct error err;
    struct notes notes;
    struct note gone = example(1, "f1"), old = example(2, "f2");
    gone.state = NOTE_GONE;
    snprintf(old.boot, sizeof old.boot, "another");
    assert_int_equal(note_write(&dir, &gone, &err), 0);
    assert_int_equal(note_write(&dir, &old, &err), 0);
    assert_int_equal(notes_load(&notes, &dir, &err), 0);
    assert_int_equal(notes.count, 2);
    assert_null(notes_holder(&notes, "cxi0", 12));
    notes_release(&notes);
}

TEST(notes__of_no_folder_are_none)
{
    struct error err;
    struct notes notes;
    struct statedir none;
    char path[96];
    snprintf(path, sizeof path, "%s/not/there", folder);
    assert_int_equal(statedir_open(&none, path, false, &err), 0);
    assert_int_equal(notes_load(&notes, &none, &err), 0);
    assert_int_equal(notes.count, 0);
    assert_int_equal(statedir_open(&none, path, true, &err), ERROR_IO);
    assert_non_null(strstr(err.text, "it cannot be made"));
}

/* Only one process at a time changes a job's services, or allocates. */
TEST(notes__other_of_the_owner_is_one_that_has_services)
{
    struct note at[] = {example(1, "f17"), example(2, "f18")};
    const struct notes notes = {.count = 2, .at = at};
    at[0].state = NOTE_LINGERING;
    assert_ptr_equal(notes_other_of_owner(&notes, &at[0]), &at[1]);
    at[1].state = NOTE_INTENDED; /* its prolog is at work */
    assert_ptr_equal(notes_other_of_owner(&notes, &at[0]), &at[1]);
    at[1].state = NOTE_LINGERING;
    assert_null(notes_other_of_owner(&notes, &at[0]));
    at[1].state = NOTE_GONE;
    assert_null(notes_other_of_owner(&notes, &at[0]));
    at[1].state = NOTE_MADE;
    at[1].claim.uid++;
    assert_null(notes_other_of_owner(&notes, &at[0]));
    at[1].claim.uid--;
    strcpy(at[1].boot, "before");
    assert_null(notes_other_of_owner(&notes, &at[0]));
}

TEST(notes__lingering_with_a_vni)
{
    struct note at[] = {example(1, "f17")};
    const struct notes notes = {.count = 1, .at = at};
    struct claim claim = {.number = 2, .vni_count = 2, .vnis = {7, 1025}};
    at[0].state = NOTE_LINGERING;
    assert_ptr_equal(notes_lingering_with(&notes, &claim), &at[0]);
    claim.vni_count = 1;
    assert_null(notes_lingering_with(&notes, &claim));
    claim.vni_count = 2;
    at[0].state = NOTE_MADE; /* that is its job's, and the broker's to explain */
    assert_null(notes_lingering_with(&notes, &claim));
    at[0].state = NOTE_LINGERING;
    claim.number = 1;
    assert_null(notes_lingering_with(&notes, &claim));
}

TEST(statedir__locks_exclude_by_number)
{
    struct error err;
    struct statedir other;
    assert_int_equal(statedir_open(&other, dir.path, true, &err), 0);
    assert_int_equal(statedir_lock(&dir, 4711, &err), 0);
    assert_int_equal(statedir_lock(&dir, STATEDIR_NICS, &err), 0);
    assert_false(statedir_try_lock(&other, 4711));
    assert_false(statedir_try_lock(&other, STATEDIR_NICS));
    assert_true(statedir_try_lock(&other, 4712));
    assert_true(statedir_try_lock(&other, INT64_MAX - 1));
    statedir_unlock(&dir, 4711);
    assert_true(statedir_try_lock(&other, 4711));
    assert_false(statedir_try_lock(&other, STATEDIR_NICS));
    statedir_close(&other);
    assert_true(statedir_try_lock(&dir, 4711));
}

/* P6: what was counted, at the begin and at the end. */
TEST(note__keeps_traffic)
{
    struct error err;
    struct note note = example(4711, "f17"), back;
    note.traffic = (struct traffic){.begun = true,
                                    .shared = true,
                                    .begun_ms = 12345,
                                    .count = 2,
                                    .nics = {{.device = "cxi0"}, {.device = "cxi1"}}};
    note.traffic.nics[0].at = (struct counters){{1, 2, 0, 0, INT64_MAX}, 0x13};
    assert_int_equal(note_write(&dir, &note, &err), 0);
    assert_int_equal(note_read(&dir, 4711, &back, &err), 0);
    assert_memory_equal(&back.traffic, &note.traffic, sizeof note.traffic);

    note.traffic = (struct traffic){.begun = true,
                                    .ended = true,
                                    .sum = {{1, 2, 3, 4, 5}, 0x1f},
                                    .unclear = 1,
                                    .seconds = 60,
                                    .slowest = "cxi0",
                                    .congested = "cxi1",
                                    .slowest_octets = 3,
                                    .congested_paused = 5};
    assert_int_equal(note_write(&dir, &note, &err), 0);
    assert_int_equal(note_read(&dir, 4711, &back, &err), 0);
    assert_memory_equal(&back.traffic, &note.traffic, sizeof note.traffic);
    char name[NOTE_SHARED_SIZE];
    assert_int_equal(statedir_write(&dir, note_shared_name(name, 4711), "", &err), 0);
    assert_int_equal(note_remove(&dir, 4711, &err), 0);
    char *text;
    assert_int_equal(statedir_read(&dir, name, &text, NULL), ERROR_NOT_FOUND);
}

UNIT_RUN(NULL, NULL)
