/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a command knows of the node it runs on; NICs and broker are opened when they are needed. */

#include "client/mcast.h"
#include "node/record/note.h"
#include "node/record/statedir.h"
#include "node/services/nic.h"
#include "node/settings.h"

struct node {
    struct settings settings;
    const char *cluster; /* --cluster, MCAST_CLUSTER or node.conf; NULL: none of them */
    char name[NOTE_NODE_SIZE];
    const char *name_is; /* where the name comes from, for people */
    struct statedir dir;
    struct notes notes; /* as they were when node_remember was called */
    struct boot boot;   /* of a directory that can be changed */
    struct nics nics;
    bool nics_known;
    struct mcast *broker;
    const char *users;    /* who has jobs here, "1000,1001", by the resource manager; or NULL */
    const char *reporter; /* a program that reports what is gone with other nodes' reports; NULL */
    unsigned int looks;   /* for holders.h */
    bool broker_gone;     /* it had no answer, or no time: asking again would only cost time */
    char unreached[200];  /* why the last request found no way to the broker; "": it did */
};

/* One line on standard error, "mcast-node: …", with control characters replaced. The prefix also
 * keeps Slurm, which executes lines of a TaskProlog's output, from finding a command in it. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Opens the state directory (change: to write in it) and reads the notes. 0 or negative. */
int node_remember(struct node *node, bool change, struct error *err);

/* Lists and opens the NICs, once. ERROR_NOT_FOUND: libcxi is not installed; else as library_open
 * and nics_open. */
int node_find_nics(struct node *node, struct error *err);

/* One request to the broker. 0 or negative. */
typedef int node_request_fn(struct mcast *broker, void *arg, struct mcast_error *error);

/* Sends it, and again for as long as retry_ms while the broker says "not now" (mcast_later): all
 * nodes of a large job come to it at once (F3), and it may be in a restart. if_absent: also while
 * none listens, with a message the first time; for a caller that needs the answer: one whose report
 * can be sent later is not delayed. 0 or negative; node->broker_gone is kept. */
int node_ask(struct node *node, node_request_fn *request, void *arg, int64_t retry_ms,
             bool if_absent, struct mcast_error *error);

void node_release(struct node *node);

/* For fit_explain; arg is the node. */
const char *node_job_of(void *arg, const char *device, unsigned int service);
