/* SPDX-License-Identifier: Apache-2.0 */
/* Where the SPANK plugin finds what a job was granted, with programs that play ours (F8, F16). */

#include "deploy/slurm/spank/fetch.h"
#include "deploy/slurm/spank/program.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>

enum { PATH_SIZE = 128, DEADLINE_MS = 60000 };

static char folder[FOLDER_PATH_SIZE], broker[PATH_SIZE], nics[PATH_SIZE];
static struct settings settings;
static struct grant grant;
static struct fetched fetched;

static int setup(void **state)
{
    assert_int_equal(folder_create(folder), 0);
    settings = (struct settings){
        .grants = folder,
        .mcastctl = folder_path(broker, sizeof broker, folder, "mcastctl"),
        .mcast_node = folder_path(nics, sizeof nics, folder, "mcast-node"),
    };
    grant_forget(&grant);
    return 0;
}

static int teardown(void **state)
{
    folder_destroy(folder);
    return 0;
}

static void play(const char *program, const char *script)
{
    char text[1024];
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    assert_int_equal(folder_write(folder, program, 0755, text), 0);
}

/* One variable, as Prolog leaves it; 0, or -1. */
static int write_grant(const char *variable)
{
    char path[PATH_SIZE];
    const size_t size = strlen(variable) + 1;
    FILE *file = fopen(folder_path(path, sizeof path, folder, "n1.17"), "we");
    const bool written = file && fwrite(variable, 1, size, file) == size;
    return file && fclose(file) == 0 && written ? 0 : -1;
}

static void ask_for(int64_t ms)
{
    const struct fetch fetch = {.settings = &settings,
                                .cluster = "elcap",
                                .node = "n1",
                                .job = 17,
                                .step = "3",
                                .deadline_ms = program_now_ms() + ms};
    fetch_grant(&fetch, &grant, &fetched);
}

UNIT_WITH(fetch__what_prolog_left_is_all, setup, teardown)
{
    play("mcastctl", "printf 'FI_CXI_COLL_JOB_ID=elcap-18\\0'");
    assert_int_equal(write_grant("FI_CXI_COLL_JOB_ID=elcap-17"), 0);
    ask_for(DEADLINE_MS);
    assert_true(fetched.collectives);
    assert_true(fetched.services);
    assert_string_equal(grant.values[GRANT_JOB], "elcap-17");
    assert_null(grant.values[GRANT_VNIS]);
}

UNIT_WITH(fetch__programs_are_asked_else, setup, teardown)
{
    settings.url = "https://broker";
    settings.node_config = "/etc/node.conf";
    play("mcastctl", "printf 'FI_CXI_COLL_JOB_ID=%s\\0' \"$*\"");
    play("mcast-node", "printf 'SLINGSHOT_VNIS=%s\\0' \"$*\"");
    ask_for(DEADLINE_MS);
    assert_true(fetched.collectives);
    assert_true(fetched.services);
    assert_string_equal(grant.values[GRANT_JOB],
                        "env --cluster elcap --url https://broker --step 3 --format null 17");
    assert_string_equal(grant.values[GRANT_VNIS],
                        "env --cluster elcap --config /etc/node.conf --node n1 --format null "
                        "--job 17");
    assert_string_equal(fetched.no_collectives, "");
}

UNIT_WITH(fetch__a_job_of_nobodys, setup, teardown)
{
    play("mcastctl", "printf 'FI_CXI_COLL_JOB_ID=elcap-18\\0'; exit 3");
    play("mcast-node", "exit 3");
    ask_for(DEADLINE_MS);
    assert_true(fetched.collectives); /* that there is nothing is known */
    assert_true(fetched.services);
    assert_null(grant.values[GRANT_JOB]);
    assert_string_equal(fetched.no_services, "");
}

UNIT_WITH(fetch__says_why_not, setup, teardown)
{
    play("mcastctl",
         "printf 'FI_CXI_COLL_JOB_ID=elcap-17\\0'; echo mcastctl: nobody listens >&2; exit 4");
    play("mcast-node", "echo mcast-node: no service of job 17 >&2; exit 1");
    ask_for(DEADLINE_MS);
    assert_false(fetched.collectives);
    assert_false(fetched.services);
    assert_null(grant.values[GRANT_JOB]); /* half a word is none */
    assert_string_equal(fetched.no_collectives, "mcastctl: nobody listens");
    assert_string_equal(fetched.no_services, "mcast-node: no service of job 17");
}

/* A node without Slingshot, or with the hooks of another: nothing that a user has to read. */
UNIT_WITH(fetch__no_programs, setup, teardown)
{
    play("mcast-node", "echo mcast-node: what configuration >&2; exit 2");
    ask_for(DEADLINE_MS);
    assert_false(fetched.collectives);
    assert_false(fetched.services);
    assert_non_null(strstr(fetched.no_collectives, "/mcastctl cannot be run"));
    assert_string_equal(fetched.no_services, "");
}

UNIT_WITH(fetch__in_time_or_not, setup, teardown)
{
    play("mcastctl", "printf 'FI_CXI_COLL_JOB_ID=elcap-17\\0'; exec sleep 1000");
    play("mcast-node", "exec sleep 1000");
    ask_for(200);
    assert_false(fetched.collectives);
    assert_null(grant.values[GRANT_JOB]);
    assert_non_null(strstr(fetched.no_collectives, "does not answer in time"));
}

/* What does not come whole is not taken: neither a cut line nor a flood. */
UNIT_WITH(fetch__garbage, setup, teardown)
{
    play("mcastctl", "printf FI_CXI_COLL_JOB_ID=elcap-17");
    play("mcast-node", "while :; do printf 'SLINGSHOT_VNIS=1\\0'; done");
    ask_for(DEADLINE_MS);
    assert_false(fetched.collectives);
    assert_false(fetched.services);
    assert_null(grant.values[GRANT_JOB]);
    assert_null(grant.values[GRANT_VNIS]);
}

/* What must not be believed is as good as not there. */
UNIT_WITH(fetch__a_file_that_others_can_write, setup, teardown)
{
    play("mcastctl", "exit 3");
    char path[PATH_SIZE];
    assert_int_equal(write_grant("FI_CXI_COLL_JOB_ID=elcap-17"), 0);
    assert_int_equal(chmod(folder_path(path, sizeof path, folder, "n1.17"), 0622), 0);
    ask_for(DEADLINE_MS);
    assert_true(fetched.collectives);
    assert_null(grant.values[GRANT_JOB]);
}

static void expect_reason(const char *script, const char *expected)
{
    char said[FETCH_SAID_SIZE] = "none";
    const struct fetch fetch = {.settings = &settings,
                                .cluster = "elcap",
                                .node = "n1",
                                .job = 17,
                                .step = "3",
                                .deadline_ms = program_now_ms() + DEADLINE_MS};
    play("mcastctl", script);
    fetch_reason(&fetch, said);
    assert_string_equal(said, expected);
}

UNIT_WITH(fetch__why_there_are_none, setup, teardown)
{
    expect_reason("echo VNIs 1; echo Hardware collectives denied: no room; echo Created now",
                  "denied: no room");
    expect_reason("echo \"Hardware collectives $*\"", "show --cluster elcap 17");
    expect_reason("printf 'Hardware collectives off'", "off");
    expect_reason("echo no Hardware collectives", "none");
    expect_reason("echo Hardware collectives off; exit 3", "none");
    expect_reason("yes Hardware", "none");
    expect_reason("printf 'Hardware collectives %0500d' 7", /* cut */
                  "00000000000000000000000000000000000000000000000000000000000000000000000000000000"
                  "00000000000000000000000000000000000000000000000000000000000000000000000000000000"
                  "00000000000000000000000000000000000000000000000000000000000000000000000000000000"
                  "000000000000000");
}

UNIT_RUN(NULL, NULL)
