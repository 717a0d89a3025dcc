/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_NODE_H
#define MCAST_NODE_NODE_H

/* What a command knows of the node it runs on; NICs and broker are opened when they are needed. */

#include "client/mcast.h"
#include "node/record/boot.h"
#include "node/services/nic.h"
#include "node/record/note.h"
#include "node/settings.h"
#include "node/record/statedir.h"

struct node {
    struct settings settings;
    const char *cluster; /* --cluster, MCAST_CLUSTER or node.conf; NULL: none of them */
    char name[NOTE_NODE_SIZE];
    const char *name_is; /* where the name comes from, for people */
    bool dry_run;
    struct statedir dir;
    struct notes notes; /* as they were when node_remember was called */
    struct boot boot;   /* of a directory that can be changed */
    struct nics nics;
    bool nics_known;
    struct mcast *broker;
    struct mcast_error said; /* by node_say_error, the last time */
    const char *users;       /* who has jobs here, "1000,1001", by the resource manager; or NULL */
    unsigned int looks;      /* for holders.h */
    bool broker_gone;        /* it had no answer, or no time: asking again would only cost time */
};

/* Says what the broker answered; once, if it says the same of one job after the other. */
void node_say_error(struct node *node, const struct mcast_error *error);

/* Opens the state directory (change: to write in it) and reads the notes. 0 or negative. */
int node_remember(struct node *node, bool change, struct error *err);

/* Lists and opens the NICs, once. ERROR_NOT_FOUND: libcxi is not installed; else as library_open
 * and nics_open. */
int node_find_nics(struct node *node, struct error *err);

/* The broker's handle, not yet connected; NULL with an error, also when it was gone before. */
struct mcast *node_broker(struct node *node, struct mcast_error *error);

void node_release(struct node *node);

/* For fit_explain; arg is the node. */
const char *node_job_of(void *arg, const char *device, unsigned int service);

#endif
