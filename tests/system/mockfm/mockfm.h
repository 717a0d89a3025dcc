/* SPDX-License-Identifier: Apache-2.0 */
/* A running mock-fm in a folder of its own. */
#pragma once

#include "tests/system/mockfm/rawhttp.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"

#define DOUBLE_LOGIN "Authorization: Basic Y3hpOmZtLXBhc3N3MHJk\r\n" /* cxi:fm-passw0rd */
#define DOUBLE_JOBS "/fabric/collectives/jobs"
#define DOUBLE_TREES "/fabric/collectives/multicasts"

struct mockfm_fm {
    char folder[FOLDER_PATH_SIZE];
    struct process *process;
    unsigned port;
    int pid;
    bool tls; /* started with a certificate; double_… then use it */
};

/* Setups and teardown of cmocka: the folder with the password file, nothing running; or running,
 * without options. What runs at the end is stopped, as by mockfm_stop. */
int mockfm_setup(void **state);
int mockfm_run(void **state);
int mockfm_teardown(void **state);

#define STOPPED(test) cmocka_unit_test_setup_teardown(test, mockfm_setup, mockfm_teardown)
#define RUNNING(test) cmocka_unit_test_setup_teardown(test, mockfm_run, mockfm_teardown)

/* Starts it with a login (--auth basic) and a state file, and further options (words, NULL at the
 * end; or NULL), of which the last of a kind counts. The folder is its working directory.
 * Returns when it serves; fails the test when it does not. */
void mockfm_start(struct mockfm_fm *fm, const char *const *options);
void mockfm_kill(struct mockfm_fm *fm);         /* -9 */
void mockfm_hangup(const struct mockfm_fm *fm); /* SIGHUP */
void mockfm_stop(struct mockfm_fm *fm);         /* SIGTERM; fails the test unless it exits with 0 */

/* Writes a file of its folder, in the place of what is there. */
void mockfm_write(const struct mockfm_fm *fm, const char *name, const char *text);

/* The number in a file of its folder; 0: there is none. */
unsigned mockfm_number(const struct mockfm_fm *fm, const char *name);

/* Does this occur in what it printed? */
bool mockfm_printed(const struct mockfm_fm *fm, const char *words);

/* Reserves, failing the test when refused, and writes the header line with the job's token. */
void mockfm_reserve(const struct mockfm_fm *fm, const char *job, int limit, char bearer[128]);

/* The body of a request for a tree over three NICs that begin at this number. */
const char *mockfm_tree(char body[256], const char *job, const char *step, unsigned nic);

/* Puts rules into force, instead of those that were. */
void mockfm_fault(const struct mockfm_fm *fm, const char *rules);

/* Does GET /mock/state show this job? And how many jobs? */
bool mockfm_holds(const struct mockfm_fm *fm, const char *job);
size_t mockfm_count_jobs(const struct mockfm_fm *fm);

/* A number of GET /mock/log: "requests" or "connections". */
json_int_t mockfm_log_total(const struct mockfm_fm *fm, const char *name);
