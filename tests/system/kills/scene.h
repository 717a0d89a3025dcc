/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/crowd.h"
#include "tests/system/kills/subscriber.h"
#include "tests/system/rig/testbed.h"

#include <stdbool.h>
#include <stdint.h>

/* All of it: a broker of three clusters with budgets, the fabric manager's double, a crowd of
 * clients, and subscribers of events. */

enum {
    SCENE_SUBSCRIBERS = 2, /* the first one never leaves by itself */
    SCENE_ADDRESSES = 120, /* of the fabric */
    SCENE_PER_JOB = 4,
    SCENE_HOLD_MS = 300, /* [vni] hold */
};

struct scene {
    struct verdict verdict;
    struct prng prng;
    struct testbed *testbed;
    struct vnis *vnis;
    struct history history;
    struct crowd *crowd;
    struct subscriber *subscribers[SCENE_SUBSCRIBERS];
    int64_t glance_ns;   /* when to look at the fabric manager next */
    uint64_t glances;    /* how often its budgets were looked at */
    unsigned budget_max; /* the most that was seen there of a cluster with a budget */
    unsigned strays;     /* planted at the fabric manager */
    bool old_state;      /* an old state was put back there: budgets are not looked at */
    json_t *restored;    /* what it had: name -> true. NULL: none was put back */
    bool debug;
};

/* Starts both programs; the link is up. 0, or -1. */
int scene_open(struct scene *scene, const char *mcastd, const char *mock_fm, uint64_t seed,
               bool debug);
void scene_close(struct scene *scene);

/* Goes on until the crowd has had so many more answers, or (when little is answered) for so long.
 */
void scene_run(struct scene *scene, unsigned answers, unsigned at_most_ms);
/* That until holds(arg): false when it never was, within AWAIT_DEADLINE_MS. */
bool scene_await(struct scene *scene, bool (*holds)(void *arg), void *arg);

/* kill -9; what was under way is broken off. */
void scene_kill_broker(struct scene *scene);
/* Starts it, and clients may expect answers from now on. 0, or -1 with a fault. */
int scene_start_broker(struct scene *scene);
/* The same of the fabric manager. */
int scene_start_fm(struct scene *scene);

/* Notes what the fabric manager has now, when an old state was put back. */
void scene_note_restored(struct scene *scene);

/* Somebody else makes an object of one address at the fabric manager. Its status. */
int scene_plant(struct scene *scene, const char *name);

/* Cluster names and budgets; 0: none of its own. */
extern const char *const scene_clusters[CROWD_CLUSTERS];
extern const unsigned scene_budgets[CROWD_CLUSTERS];
/* Which cluster's a name at the fabric manager is: its index, or -1; and the job's id. */
int scene_cluster_of(const char *name, const char **job);
