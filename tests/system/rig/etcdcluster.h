/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/network.h"
#include "tests/system/rig/plainhttp.h"
#include "tests/system/rig/process.h"

#include <stdbool.h>
#include <stddef.h>

/* Real etcd members in a folder of their own, on ports that nothing else has: what brokers of one
 * fabric keep their ledger in. They never outlive the test. Each function that returns an int: 0,
 * or -1, with the cause on stderr. Not for several threads at once. */

enum { ETCDCLUSTER_MAX = 3 };

struct etcdcluster_options {
    unsigned members; /* 1 or 3; 0: 1 */
    /* Mutual TLS between all: a folder with ca.pem, server.pem, server.key, client.pem and
     * client.key, as authority_equip writes it (tests/system/http/testcert.h). NULL: no TLS. */
    const char *certificates;
    long long quota_bytes;         /* 0: etcd's own */
    int heartbeat_ms, election_ms; /* 0: 100 and 1000, so that a lease is at least 2 s */
    const char *const *args;       /* further options of etcd, NULL-terminated; or NULL */
    struct network *network;       /* member i is at its host i; NULL: all at 127.0.0.1 */
};

struct etcdcluster;

/* Whether etcd is installed where it was when this was configured. */
bool etcdcluster_possible(void);

/* Starts all, and waits until each is healthy. The options are borrowed. NULL: failed. */
struct etcdcluster *etcdcluster_create(const struct etcdcluster_options *options);
/* Kills all, also those that are stopped, and deletes the folder. NULL is allowed. */
void etcdcluster_destroy(struct etcdcluster *cluster);

unsigned etcdcluster_members(const struct etcdcluster *cluster);
/* "http://127.0.0.1:23791"; https with certificates. */
const char *etcdcluster_url(const struct etcdcluster *cluster, unsigned member);
const char *etcdcluster_address(const struct etcdcluster *cluster, unsigned member);
int etcdcluster_port(const struct etcdcluster *cluster, unsigned member);
/* All of them, with ", " between: what [state] endpoints wants. */
const char *etcdcluster_endpoints(const struct etcdcluster *cluster);

/* NULL: it was killed. */
struct process *etcdcluster_process(const struct etcdcluster *cluster, unsigned member);

/* kill -9; it keeps its data and its ports. */
void etcdcluster_kill(struct etcdcluster *cluster, unsigned member);
/* Starts a killed one again, with its data. It is healthy when etcdcluster_await says so. */
int etcdcluster_restart(struct etcdcluster *cluster, unsigned member);
/* What its members have from their next start on; 0: etcd's own. */
void etcdcluster_set_quota(struct etcdcluster *cluster, long long bytes);
/* SIGSTOP and SIGCONT. */
void etcdcluster_pause(struct etcdcluster *cluster, unsigned member);
void etcdcluster_resume(struct etcdcluster *cluster, unsigned member);
/* Waits until each member that runs and is not paused is healthy, which needs a majority. */
int etcdcluster_await(struct etcdcluster *cluster);
/* The member that leads the others (not the broker that leads); -1: none is known. */
int etcdcluster_leader(struct etcdcluster *cluster);

/* Deletes all keys: for the next test on the same members. Leases stay. */
int etcdcluster_wipe(struct etcdcluster *cluster);

/* One call of the JSON gateway, as "/v3/kv/range"; see plainhttp_call. A member that does not
 * answer within 10 s counts as none. */
int etcdcluster_call(struct etcdcluster *cluster, unsigned member, const char *path,
                     const char *body, struct plainhttp_reply *reply);

/* Looks at keys, and changes them, through the first member that runs. */
int etcdcluster_put(struct etcdcluster *cluster, const char *key, const char *value);
/* The text of a key, from malloc; NULL: there is no such key, or it was not answered. */
char *etcdcluster_get(struct etcdcluster *cluster, const char *key);
/* How many keys begin with this; -1: it was not answered. */
long etcdcluster_count(struct etcdcluster *cluster, const char *prefix);
