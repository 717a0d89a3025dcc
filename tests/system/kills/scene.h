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
    struct fleet *fleet; /* the brokers, as clients reach them */
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
    /* Where several brokers are (tests/system/ha); NULL: the testbed has the only one. */
    void *brokers;
    void (*look_after)(void *brokers); /* now and then */
    /* As plainhttp_call, at the one that leads. */
    int (*call)(void *brokers, const char *method, const char *path, struct plainhttp_reply *reply);
};

/* Starts both programs; the link is up. 0, or -1. */
int scene_open(struct scene *scene, const char *mcastd, const char *mock_fm, uint64_t seed,
               bool debug);
void scene_close(struct scene *scene);
/* The parts of scene_open: the fabric manager's double, with others' objects; what its broker is
 * to have in [fm], and from [hwcoll] on; the clients of these brokers, each 0 or -1. */
int scene_open_fm(struct scene *scene, const struct testbed_options *options);
extern const char scene_fm_lines[], scene_hwcoll_lines[], scene_vni_lines[], scene_cluster_lines[];
int scene_open_clients(struct scene *scene, const struct fleet_options *fleet);
/* A call of the broker: its status. reply is to be released. */
int scene_call(struct scene *scene, const char *method, const char *path,
               struct plainhttp_reply *reply);

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
