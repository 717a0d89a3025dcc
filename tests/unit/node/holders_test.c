/* SPDX-License-Identifier: Apache-2.0 */
/* Who keeps a service busy, from a /proc of our own (F9). */

#include "node/services/holders.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 128 };

static char proc[FOLDER_PATH_SIZE];

static int set_up(void **state)
{
    return folder_create(proc);
}

static int tear_down(void **state)
{
    folder_destroy(proc);
    return 0;
}

static void add_process(const char *pid, const char *name, const char *file)
{
    char path[PATH_SIZE], descriptor[PATH_SIZE + 8];
    assert_true(snprintf(path, sizeof path, "%s/%s", proc, pid) < PATH_SIZE);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(folder_write(path, "comm", 0644, name), 0);
    assert_true(snprintf(path, sizeof path, "%s/%s/fd", proc, pid) < PATH_SIZE);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(descriptor, sizeof descriptor, "%s/0", path);
    assert_int_equal(symlink("/dev/null", descriptor), 0);
    snprintf(descriptor, sizeof descriptor, "%s/7", path);
    assert_int_equal(symlink(file, descriptor), 0);
}

static const char *describe(uint32_t uid, const char *device)
{
    static char text[HOLDERS_TEXT_SIZE];
    unsigned int looks = 0;
    return holders_describe(proc, uid, device, &looks, text);
}

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

TEST(holders__are_who_has_the_nic_open)
{
    char words[64];
    uint32_t me = (uint32_t)geteuid();
    add_process("4711", "hpl\n", "/dev/cxi1");
    add_process("4712", "bash\n", "/dev/cxi10");
    add_process("4713", "vi\n", "/tmp/dev/cxi1");
    snprintf(words, sizeof words, "process 4711 (hpl) of uid %u", me);
    assert_string_equal(describe(me, "cxi1"), words);
}

TEST(holders__of_others_do_not_count)
{
    add_process("4711", "hpl\n", "/dev/cxi1");
    assert_non_null(strstr(describe((uint32_t)geteuid() + 1, "cxi1"), "a process of uid "));
}

TEST(holders__are_three_and_so_many_more)
{
    static const char *const pids[] = {"1", "2", "3", "4", "5"};
    for (size_t i = 0; i < 5; i++)
        add_process(pids[i], "a name of 15 ch\n", "/dev/cxi0");
    const char *text = describe((uint32_t)geteuid(), "cxi0");
    assert_non_null(strstr(text, "(a name of 15 ch) and 2 more of uid "));
}

TEST(holders__have_names_that_are_text)
{
    add_process("4711", "a\xff\x1b[1m\xc2\x9b~\n", "/dev/cxi0");
    assert_non_null(strstr(describe((uint32_t)geteuid(), "cxi0"), "(a??[1m??~)"));
}

TEST(holders__nobody_is_seen)
{
    assert_string_equal(describe(5588, "cxi0"),
                        "a process of uid 5588, or by operations that the NIC has to end");
    char text[HOLDERS_TEXT_SIZE];
    unsigned int looks = 0;
    assert_string_equal(holders_describe("/none", 5588, "cxi0", &looks, text),
                        describe(5588, "cxi0"));
}

/* With a million descriptors a user would hold up the hooks of all others on the node. */
TEST(holders__are_looked_for_so_many_times_only)
{
    char text[HOLDERS_TEXT_SIZE], path[PATH_SIZE];
    uint32_t me = (uint32_t)geteuid();
    unsigned int looks = 0;
    add_process("4711", "hpl\n", "/dev/cxi1");
    for (int i = 8; i < 1500; i++) {
        assert_true(snprintf(path, sizeof path, "%s/4711/fd/%d", proc, i) < PATH_SIZE);
        assert_int_equal(symlink("/dev/null", path), 0);
    }
    (void)holders_describe(proc, me, "cxi0", &looks, text);
    assert_in_range(looks, 1, 1000);
    looks = HOLDERS_LOOKS_MAX;
    assert_non_null(strstr(holders_describe(proc, me, "cxi1", &looks, text), "a process of uid "));
    assert_int_equal(looks, HOLDERS_LOOKS_MAX);
}

static void add_status(const char *pid, const char *text)
{
    char path[PATH_SIZE];
    assert_true(snprintf(path, sizeof path, "%s/%s", proc, pid) < PATH_SIZE);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(folder_write(path, "status", 0644, text), 0);
}

TEST(holders__user_lives_in_any_process_of_his)
{
    add_status("11", "Name:\thpl\nState:\tZ (zombie)\nUid:\t5588\t5588\t5588\t5588\n");
    add_status("12", "Name:\tsh\nState:\tS (sleeping)\nUid:\t0\t0\t0\t0\n");
    add_status("self", "Name:\tsh\nState:\tR (running)\nUid:\t5588\t5588\t5588\t5588\n");
    assert_false(holders_user_lives(proc, 5588));
    assert_true(holders_user_lives(proc, 0));
    add_status("13", "Name:\tsu\nState:\tS (sleeping)\nUid:\t0\t0\t5588\t0\n");
    assert_true(holders_user_lives(proc, 5588));
    assert_false(holders_user_lives(proc, 558));
}

UNIT_RUN(NULL, NULL)
