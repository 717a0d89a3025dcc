/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_OPERATION_MANAGEDBROKER_H
#define MCAST_TESTS_OPERATION_MANAGEDBROKER_H

#include "tests/system/rig/plainhttp.h"
#include "tests/system/rig/process.h"

#include <stdbool.h>
#include <sys/types.h>

/* A broker whose configuration the test writes as an administrator would, and two fabric managers
 * for it to move between. Failures are asserts. */

enum { MANAGEDBROKER_FMS = 2 };

struct managedbroker;
struct managedbroker *managedbroker_open(const char *mcastd, const char *mock_fm);
void managedbroker_close(
    struct managedbroker *managedbroker); /* the broker, if it runs, must end with 0 */

/* name: below the folder. */
const char *managedbroker_path(struct managedbroker *managedbroker, const char *name);
void managedbroker_write(struct managedbroker *managedbroker, const char *name, mode_t mode,
                         const char *text);
void managedbroker_remove(struct managedbroker *managedbroker, const char *name);

/* One of the fabric managers; its login is the file login/passwd, as the broker's. */
const char *managedbroker_fm(struct managedbroker *managedbroker,
                             int which); /* starts it; its base URL */
void managedbroker_fm_password(struct managedbroker *managedbroker, int which,
                               const char *password);
void managedbroker_fm_kill(struct managedbroker *managedbroker, int which);
bool managedbroker_fm_holds(struct managedbroker *managedbroker, int which,
                            const char *job); /* its full name */

/* mcastd.conf is written once: socket, state, login, the cluster elcap of whoever runs the test.
 * What a test says is in conf.d/50-test.conf. */
void managedbroker_configure(struct managedbroker *managedbroker, const char *text);
void managedbroker_start(struct managedbroker *managedbroker); /* until READY */
void managedbroker_stop(
    struct managedbroker *managedbroker); /* SIGTERM; asserts the exit status 0 */
struct process *managedbroker_broker(const struct managedbroker *managedbroker);
pid_t managedbroker_pid(
    const struct managedbroker *managedbroker); /* of whoever serves the socket */

/* SIGHUP, and waits until the log says what came of it: true when it was applied. */
bool managedbroker_reload(struct managedbroker *managedbroker);

/* The log since managedbroker_start or the last managedbroker_mark. Valid until the next call. */
const char *managedbroker_log(struct managedbroker *managedbroker);
void managedbroker_mark(struct managedbroker *managedbroker);
bool managedbroker_logged(struct managedbroker *managedbroker, const char *text); /* waits for it */

struct plainhttp *managedbroker_http(const struct managedbroker *managedbroker);
/* PUT of a job of two nodes; its status. vni: its first one, if not NULL; hwcoll: the wish, or
 * NULL. */
int managedbroker_reserve(struct managedbroker *managedbroker, const char *job, const char *hwcoll,
                          int *vni);
bool managedbroker_await_link(struct managedbroker *managedbroker,
                              const char *url); /* up, and at that URL */

#endif
