/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/ha/brokers.h"
#include "tests/system/kills/scene.h"
#include "tests/system/rig/clocks.h"
#include "tests/system/rig/tcpproxy.h"

/* Three brokers on three members, each broker under a unit that starts it again when it led no
 * longer (exit status 75). In a network each member, each broker and the fabric manager's double is
 * a host of its own; without, each broker has a proxy as its link to each member. */

enum { UNITS_FM_HOST = ETCDCLUSTER_MAX + BROKERS_MAX, UNITS_HOSTS };
#define UNITS_HOST(broker) (ETCDCLUSTER_MAX + (broker))

struct units {
    struct scene *scene;
    struct brokers brokers;
    struct network *network; /* or NULL */
    struct tcpproxy *links[BROKERS_MAX][ETCDCLUSTER_MAX];
    char endpoints[BROKERS_MAX][128], lines[2048];
    bool paused[BROKERS_MAX], stopping[BROKERS_MAX];
    unsigned lives[BROKERS_MAX]; /* how often each was started */
    struct clocks clocks[BROKERS_MAX];
    unsigned deposed; /* how often one ended with 75 */
};

/* The scene has its fabric manager. All three run, one leads. 0, or -1. */
int units_open(struct units *units, struct scene *scene, struct etcdcluster *cluster,
               struct network *network);
void units_close(struct units *units);

/* Starts those again that ended with 75; another status is a fault. */
void units_look_after(void *units);
/* scene's call. It asks until one that leads has answered. */
int units_call(void *units, const char *method, const char *path, struct plainhttp_reply *reply);

int units_leader(struct units *units); /* -1: none of those that run and are not paused */
bool units_runs(const struct units *units, unsigned broker);
void units_start(struct units *units, unsigned broker);
void units_kill(struct units *units, unsigned broker); /* kill -9; it stays down */
/* SIGTERM, which ends it with 0; it stays down. */
void units_stop(struct units *units, unsigned broker);
void units_pause(struct units *units, unsigned broker, bool pause);
/* Its clocks are units->clocks now. */
void units_set_clocks(struct units *units, unsigned broker);
/* The broker's links to all members, or to one: in these directions (enum tcpproxy_direction, which
 * is enum network_direction) nothing passes any more. */
void units_cut(struct units *units, unsigned broker, unsigned directions);
void units_cut_link(struct units *units, unsigned broker, unsigned member, unsigned directions);
/* From its next start on this broker has proxies on its way to members, as without network. */
void units_through_proxies(struct units *units, unsigned broker, bool through);
/* Nothing is paused, cut or down any more: neither brokers nor members. 0, or -1. */
int units_heal(struct units *units);
