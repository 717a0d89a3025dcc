/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* mcastd --export and --import beside a broker with jobs. */

#include "tests/system/outages/clients.h"
#include "tests/unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 24, LATER = 4 };

static char said[4096]; /* by the last task, on both outputs */

/* mcastd --TASK FILE, and what the shell is to do with its input or output; its exit status. */
static inline int run(const struct clients *clients, const char *task, const char *file,
                      const char *how)
{
    char command[512], conf[160], path[160];
    (void)snprintf(command, sizeof command, "%s --config %s --%s %s 2>&1 %s", MCASTD,
                   clients_file(clients, "mcastd.conf", conf), task,
                   file[0] == '-' ? file : clients_file(clients, file, path), how);
    FILE *out = popen(command, "re"); /* NOLINT(cert-env33-c): names of our own */
    assert_non_null(out);
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    const int status = pclose(out);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline void assert_runs(const struct clients *clients, const char *task, const char *file,
                               const char *words)
{
    if (run(clients, task, file, "") != 0 || !strstr(said, words))
        fail_msg("--%s: %s", task, said);
}

static inline void assert_refused(const struct clients *clients, const char *task, const char *file,
                                  const char *words)
{
    if (run(clients, task, file, "") != 1 || !strstr(said, words))
        fail_msg("--%s: expected \"%s\": %s", task, words, said);
}

/* All of the ledger and its root keys; the key file stays. */
static inline void lose_ledger(const struct clients *clients)
{
    static const char *const names[] = {"state.db-wal", "state.db-shm", "state.db", "root.keys"};
    char path[160];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(clients_file(clients, names[i], path));
    assert_int_equal(access(path, F_OK), -1);
}

static inline char *events_of(const struct clients *clients)
{
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(testbed_http(clients->testbed), "GET", "/v1/events?follow=0", NULL, &reply),
        200);
    char *text = strdup(reply.text);
    plainhttp_reply_release(&reply);
    assert_non_null(text);
    return text;
}

static inline char *file_text(const struct clients *clients, const char *name)
{
    enum { SIZE_MAX_OF_ALL = 1 << 20 };
    char path[160], *text = calloc(1, SIZE_MAX_OF_ALL);
    FILE *in = fopen(clients_file(clients, name, path), "re");
    assert_non_null(in);
    assert_non_null(text);
    assert_in_range(fread(text, 1, SIZE_MAX_OF_ALL, in), 1, SIZE_MAX_OF_ALL - 1);
    (void)fclose(in);
    return text;
}

static inline void open_with_jobs(struct clients *clients)
{
    clients_open(clients, JOBS + LATER);
    for (uint32_t job = 0; job < JOBS; job++)
        assert_int_equal(clients_reserve(clients, job), 201);
    for (uint32_t job = 0; job < JOBS; job += 6)
        assert_int_equal(clients_release(clients, job), 202);
}
