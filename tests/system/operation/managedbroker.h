/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/plainhttp.h"
#include "tests/system/rig/process.h"

#include <stdbool.h>
#include <sys/types.h>

/* A broker whose configuration the test writes as an administrator would, and two fabric managers
 * for it to move between. Failures are asserts. */

enum { MANAGED_FMS = 2 };

void managed_open(const char *mcastd, const char *mock_fm);
void managed_close(void); /* the broker, if it runs, must end with 0 */

/* name: below the folder. */
const char *managed_path(const char *name);
void managed_write(const char *name, mode_t mode, const char *text);
void managed_remove(const char *name);

/* One of the fabric managers; its login is the file login/passwd, as the broker's. */
const char *managed_fm(int which); /* starts it; its base URL */
void managed_fm_password(int which, const char *password);
void managed_fm_kill(int which);
bool managed_fm_holds(int which, const char *job); /* its full name */

/* mcastd.conf is written once: socket, state, login, the cluster elcap of whoever runs the test.
 * What a test says is in conf.d/50-test.conf. */
void managed_configure(const char *text);
void managed_start(void);                   /* until READY */
void managed_start_until(const char *word); /* in its log */
void managed_stop(void);                    /* SIGTERM; asserts the exit status 0 */
void managed_kill(void);                    /* SIGKILL */
struct process *managed_broker(void);
pid_t managed_pid(void); /* of the process that serves the socket */

/* SIGHUP, and waits until the log says what came of it: true when it was applied. */
bool managed_reload(void);

/* The log since managed_start or the last managed_mark. Valid until the next call. */
const char *managed_log(void);
void managed_mark(void);
bool managed_logged(const char *text); /* waits for it */

struct plainhttp *managed_http(void);
/* PUT of a job of two nodes; its status. vni: its first one, if not NULL; hwcoll: the wish, or
 * NULL. */
int managed_reserve(const char *job, const char *hwcoll, int *vni);
bool managed_await_link(const char *url); /* up, and at that URL */
