/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/etcdcluster.h"
#include "tests/system/rig/folder.h"

#include <stdbool.h>

/* Several real brokers, of which one leads, on the members of one etcd cluster (B7): number i has
 * the socket i.sock, the configuration i.conf, the log i.log, and i.db.seen (what it has seen of
 * the ledger), in a folder of their own. Failures
 * end the test. */

enum { BROKERS_MAX = 3 };

struct brokers {
    struct etcdcluster *cluster;
    char folder[FOLDER_PATH_SIZE];
    struct network *network; /* broker i is at its host first_host + i; or NULL */
    unsigned first_host;
    const char *lease;                      /* "8s": a busy machine keeps it up */
    const char *lines;                      /* further ones of [state]; "" */
    const char *endpoints[BROKERS_MAX];     /* members as it reaches them; NULL: all as they are */
    struct process *processes[BROKERS_MAX]; /* NULL: does not run */
    struct plainhttp *clients[BROKERS_MAX];
    char socket[BROKERS_MAX][128]; /* "unix:/…/0.sock" */
};

/* Starts none. The cluster's keys are deleted. */
void brokers_open(struct brokers *brokers, struct etcdcluster *cluster);
void brokers_close(struct brokers *brokers); /* kills those that run */

/* Writes its configuration and starts it. */
void brokers_start(struct brokers *brokers, unsigned broker);
/* Writes its configuration with these members of etcd. */
void brokers_configure(const struct brokers *brokers, unsigned broker, const char *endpoints);

/* Waits until its status has this role; until it leads. */
void brokers_await_role(struct brokers *brokers, unsigned broker, const char *role);
/* Waits until one leads: its number. */
unsigned brokers_await_leader(struct brokers *brokers);
/* For brokers that never ran: the first, so that it leads, then others, which know that. */
void brokers_start_all(struct brokers *brokers, unsigned count);

/* Waits until it ends by itself: its exit status. It can be started again. */
int brokers_await_exit(struct brokers *brokers, unsigned broker);
void brokers_kill(struct brokers *brokers, unsigned broker);
void brokers_signal(const struct brokers *brokers, unsigned broker, int signum);

/* Waits until its log has the text so many times. */
void brokers_await_log(const struct brokers *brokers, unsigned broker, const char *text,
                       unsigned times);

/* One call: its status. reply is to be released. */
int brokers_call(struct brokers *brokers, unsigned broker, const char *method, const char *path,
                 const char *body, struct plainhttp_reply *reply);
/* Repeats it at the one that leads until the status is this one. */
void brokers_retry(struct brokers *brokers, const char *method, const char *path, const char *body,
                   int status);
