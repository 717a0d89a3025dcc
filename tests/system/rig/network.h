/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Hosts of a test's own: network namespaces with an address each on one bridge, at which the test
 * has an address, too. All are in a namespace that the test's process enters: two tests never meet,
 * and the kernel removes everything with the last process in it, also when the test is killed.
 * Needs root, namespaces, veth and ip(8). Only for the thread that creates it. */

enum { NETWORK_HOSTS_MAX = 16 };

struct network;

/* Before the process opens sockets or starts threads that use the network. NULL: failed, and the
 * process is where it was; *lacks says what is missing. */
struct network *network_create(unsigned hosts, const char **lacks);
/* The process stays in the namespace. NULL is allowed. */
void network_destroy(struct network *network);

const char *network_address(const struct network *network, unsigned host); /* "10.99.0.1" */

/* What the caller's thread does from now on it does at this host (-1: the test's own): sockets,
 * threads and programs (process_start) stay where they were begun. Without network (NULL): nothing.
 */
void network_enter(struct network *network, int host);

enum network_direction { NETWORK_THERE = 1, NETWORK_BACK = 2 };
/* From now on frames from one host to the other (THERE), from the other to the one (BACK), both or
 * (0) none get lost on the way; neither host is told. */
void network_cut(struct network *network, unsigned one, unsigned other, unsigned directions);
/* The cable of one host is unplugged, or plugged in. */
void network_unplug(struct network *network, unsigned host, bool unplugged);
void network_heal(struct network *network); /* nothing is cut or unplugged any more */
