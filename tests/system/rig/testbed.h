/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/network.h"
#include "tests/system/rig/plainhttp.h"
#include "tests/system/rig/process.h"

#include <stdbool.h>

/* The real broker and the fabric manager's double, in a folder of their own, talking to each other:
 * where the system tests play. Failures say why on stderr, with the end of the program's log. */

struct testbed_options {
    const char *mcastd;           /* path of the program */
    const char *mock_fm;          /* the same; NULL: a broker without fabric manager */
    const char *const *mock_args; /* further options of mock-fm, NULL-terminated; or NULL */
    bool oauth;                   /* the login is OAuth2 client credentials; else basic */
    const char *fm_cert, *fm_key; /* mock-fm speaks TLS with these, the broker trusts this one; or
                                     NULL */
    struct network *network;      /* mock-fm is at its host fm_host; NULL: at 127.0.0.1 */
    unsigned fm_host;
    const char *broker, *state, *fm, *hwcoll, *vni; /* further lines of these sections, or NULL */
    const char *inventory; /* lines of this section; NULL: it is off, so that the fabric manager is
                              asked for jobs only */
    const char *users;     /* of cluster elcap; NULL: root */
    const char *clusters;  /* further sections, beside that of elcap; or NULL */
};

struct testbed;

/* Makes the folder and the fabric manager's password; runs nothing. The options are borrowed. */
struct testbed *testbed_create(const struct testbed_options *options);
/* Kills what runs and deletes the folder (kept when MCAST_KEEP is set). NULL is allowed. */
void testbed_destroy(struct testbed *testbed);

/* Each returns 0, or -1. Started: it serves. Stopped: it ended by itself, with exit status 0. */
int testbed_start_fm(struct testbed *testbed); /* at the same port again, with what it held */
int testbed_stop_fm(struct testbed *testbed);
void testbed_kill_fm(struct testbed *testbed);
int testbed_start_broker(struct testbed *testbed); /* until /readyz says 200 */
/* The two halves of that: it runs; it serves, or (-1) has ended or does not within the deadline. */
int testbed_launch_broker(struct testbed *testbed);
int testbed_await_broker(struct testbed *testbed);
int testbed_stop_broker(struct testbed *testbed);
void testbed_kill_broker(struct testbed *testbed);
/* Whether the log of the broker, of all its lives, has this text. */
bool testbed_broker_logged(const struct testbed *testbed, const char *text);
/* What the broker's log says behind this text, as " listen=127.0.0.1:", last; 0: nothing. */
int testbed_port(const struct testbed *testbed, const char *text);
/* Waits until the broker's link to the fabric manager is up. */
int testbed_await_link(struct testbed *testbed);

const char *testbed_folder(const struct testbed *testbed); /* its configuration, state and login */
const char *testbed_socket(const struct testbed *testbed); /* of the broker */
struct process *testbed_broker(const struct testbed *testbed); /* NULL: does not run */
const char *testbed_fm_url(const struct testbed *testbed);     /* once it was started */
int testbed_fm_pid(const struct testbed *testbed);             /* of mock-fm, while it runs */
bool testbed_fm_runs(const struct testbed *testbed);

/* Clients for tests: of the broker's socket, and of mock-fm with the administrator's login. */
struct plainhttp *testbed_http(const struct testbed *testbed);
struct plainhttp *testbed_fm_http(const struct testbed *testbed);
