/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_RIG_STAGE_H
#define MCAST_TESTS_RIG_STAGE_H

#include "tests/system/rig/plainhttp.h"
#include "tests/system/rig/process.h"

#include <stdbool.h>

/* The real broker and the fabric manager's double, in a folder of their own, talking to each other:
 * where the system tests play. Failures say why on stderr, with the end of the program's log. */

struct stage_options {
    const char *mcastd;           /* path of the program */
    const char *mock_fm;          /* the same; NULL: a broker without fabric manager */
    const char *const *mock_args; /* further options of mock-fm, NULL-terminated; or NULL */
    bool oauth;                   /* the login is OAuth2 client credentials; else basic */
    const char *fm_cert, *fm_key; /* mock-fm speaks TLS with these, the broker trusts this one; or
                                     NULL */
    const char *broker, *state, *fm, *hwcoll, *vni; /* further lines of these sections, or NULL */
    const char *clusters; /* further sections, beside that of elcap; or NULL */
};

struct stage;

/* Makes the folder and the fabric manager's password; runs nothing. The options are borrowed. */
struct stage *stage_create(const struct stage_options *options);
/* Kills what runs and deletes the folder (kept when MCAST_KEEP is set). NULL is allowed. */
void stage_destroy(struct stage *stage);

/* Each returns 0, or -1. Started: it serves. Stopped: it ended by itself, with exit status 0. */
int stage_start_fm(struct stage *stage); /* at the same port again, with what it held */
int stage_stop_fm(struct stage *stage);
void stage_kill_fm(struct stage *stage);
int stage_start_broker(struct stage *stage); /* until /readyz says 200 */
/* The two halves of that: it runs; it serves, or (-1) has ended or does not within the deadline. */
int stage_launch_broker(struct stage *stage);
int stage_await_broker(struct stage *stage);
int stage_stop_broker(struct stage *stage);
void stage_kill_broker(struct stage *stage);
/* Whether the log of the broker, of all its lives, has this text. */
bool stage_broker_logged(const struct stage *stage, const char *text);
/* Waits until the broker's link to the fabric manager is up. */
int stage_await_link(struct stage *stage);

const char *stage_folder(const struct stage *stage);     /* its configuration, state and login */
const char *stage_socket(const struct stage *stage);     /* of the broker */
struct process *stage_broker(const struct stage *stage); /* NULL: does not run */
bool stage_fm_runs(const struct stage *stage);

/* Clients for tests: of the broker's socket, and of mock-fm with the administrator's login. */
struct plainhttp *stage_http(const struct stage *stage);
struct plainhttp *stage_fm_http(const struct stage *stage);

#endif
