/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that the SPANK plugin runs from within slurmstepd: as nobody but the user, and never
 * longer than allowed. */

#include "deploy/slurm/spank/program.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 60000, USER = 12345 };

static char text[4096];
static struct program_output output;

static int run_for(const char *script, int64_t ms)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    memset(text, 0, sizeof text);
    output = (struct program_output){.text = text, .size = sizeof text - 1};
    return program_run(argv, program_now_ms() + ms, &output);
}

static int run(const char *script)
{
    return run_for(script, LONG_MS);
}

UNIT(program__output_and_status)
{
    assert_int_equal(run("echo one; echo two; echo no >&2; echo more >&2; exit 3"), 3);
    assert_string_equal(text, "one\ntwo\n");
    assert_int_equal(output.length, 8);
    assert_string_equal(output.said, "no");
    assert_int_equal(run("printf 'a\\033[1mb' >&2"), 0);
    assert_string_equal(output.said, "a?[1mb");
    assert_int_equal(run("kill -SEGV $$"), PROGRAM_STOPPED);
}

UNIT(program__is_not_there)
{
    const char *const argv[] = {"/nowhere/mcastctl", NULL};
    output = (struct program_output){.text = text, .size = sizeof text};
    assert_int_equal(program_run(argv, program_now_ms() + LONG_MS, &output), PROGRAM_NONE);
    assert_int_equal(output.length, 0);
}

/* The user's environment is not handed on, nor is a descriptor of slurmstepd's. */
UNIT(program__sees_nothing_of_ours)
{
    /* As a careless caller does, not O_CLOEXEC; a shell has its own reasons for low ones. */
    int open_one = fcntl(STDERR_FILENO, F_DUPFD, 77);
    assert_true(open_one >= 77);
    setenv("LD_PRELOAD_OF_A_USER", "x", 1);
    assert_int_equal(run("env | sort | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD="), 0);
    assert_string_equal(text, "LANG=C.UTF-8\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n");
    char script[64];
    snprintf(script, sizeof script, "[ ! -e /proc/$$/fd/%d ]", open_one);
    assert_int_equal(run(script), 0);
    assert_int_equal(run("exec cat"), 0); /* and there is nothing to read */
    close(open_one);
}

/* Gone, or a zombie that init has not seen yet. */
static bool is_gone(void *arg)
{
    const int *child = arg;
    char path[64], stat[64] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", *child);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, stat, sizeof stat - 1);
    if (file >= 0)
        close(file);
    return got <= 0 || strstr(stat, ") Z ");
}

UNIT(program__too_long)
{
    assert_int_equal(run_for("sleep 1000 & echo $!; wait", 500), PROGRAM_STOPPED);
    int child = atoi(text); /* 0: it did not come that far */
    assert_true(child == 0 || await(is_gone, &child, AWAIT_DEADLINE_MS));
    assert_int_equal(run_for("exec >&- 2>&-; sleep 1000", 500), PROGRAM_STOPPED);
    assert_int_equal(run_for("echo", 0), PROGRAM_STOPPED);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

UNIT(program__says_too_much)
{
    assert_int_equal(run("yes"), PROGRAM_STOPPED);
    assert_int_equal(output.length, sizeof text - 1);
    assert_int_equal(run("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done >&2; echo end"),
                     0);
    assert_string_equal(text, "end\n");
    assert_string_equal(output.said, "0");
}

/* As slurmstepd calls user_init: the user's ids are the effective ones, and root's the real ones
 * still. The program must not get at those. */
UNIT(program__is_the_user_alone)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(setegid(USER), 0);
    assert_int_equal(seteuid(USER), 0);
    int rc = run("grep -e ^Uid -e ^Gid /proc/$$/status");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
    assert_int_equal(rc, 0);
    assert_string_equal(text, "Uid:\t12345\t12345\t12345\t12345\n"
                              "Gid:\t12345\t12345\t12345\t12345\n");
}

UNIT_RUN(NULL, NULL)
