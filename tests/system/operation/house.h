/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_OPERATION_HOUSE_H
#define MCAST_TESTS_OPERATION_HOUSE_H

#include "tests/system/rig/plainhttp.h"
#include "tests/system/rig/process.h"

#include <stdbool.h>
#include <sys/types.h>

/* A broker whose configuration the test writes as an administrator would, and two fabric managers
 * for it to move between. Failures are asserts. */

enum { HOUSE_FMS = 2 };

struct house;
struct house *house_open(const char *mcastd, const char *mock_fm);
void house_close(struct house *house); /* the broker, if it runs, must end with 0 */

/* name: below the folder. */
const char *house_path(struct house *house, const char *name);
void house_write(struct house *house, const char *name, mode_t mode, const char *text);
void house_remove(struct house *house, const char *name);

/* One of the fabric managers; its login is the file login/passwd, as the broker's. */
const char *house_fm(struct house *house, int which); /* starts it; its base URL */
void house_fm_password(struct house *house, int which, const char *password);
void house_fm_kill(struct house *house, int which);
bool house_fm_holds(struct house *house, int which, const char *job); /* its full name */

/* mcastd.conf is written once: socket, state, login, the cluster elcap of whoever runs the test.
 * What a test says is in conf.d/50-test.conf. */
void house_configure(struct house *house, const char *text);
void house_start(struct house *house); /* until READY */
void house_stop(struct house *house);  /* SIGTERM; asserts the exit status 0 */
struct process *house_broker(const struct house *house);
pid_t house_pid(const struct house *house); /* of whoever serves the socket */

/* SIGHUP, and waits until the log says what came of it: true when it was applied. */
bool house_reload(struct house *house);

/* The log since house_start or the last house_mark. Valid until the next call. */
const char *house_log(struct house *house);
void house_mark(struct house *house);
bool house_logged(struct house *house, const char *text); /* waits for it */

struct plainhttp *house_http(const struct house *house);
/* PUT of a job of two nodes; its status. vni: its first one, if not NULL; hwcoll: the wish, or
 * NULL. */
int house_reserve(struct house *house, const char *job, const char *hwcoll, int *vni);
bool house_await_link(struct house *house, const char *url); /* up, and at that URL */

#endif
