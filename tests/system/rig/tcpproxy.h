/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A network between a client and a server on this machine that does what a test wants: delays, cuts
 * in one direction or both, resets, and a copy of a request that comes late. It runs in a thread of
 * its own; one thread steers it. */

struct tcpproxy;

/* Listens on a port of its own of 127.0.0.1, and passes connections on to this server
 * (without: 127.0.0.1). NULL: failed, with the cause on stderr. */
struct tcpproxy *tcpproxy_create_to(const char *server, int server_port);
struct tcpproxy *tcpproxy_create(int server_port);
void tcpproxy_destroy(struct tcpproxy *proxy); /* resets its connections; NULL is allowed */
int tcpproxy_port(const struct tcpproxy *proxy);

enum tcpproxy_direction { TCPPROXY_TO_SERVER = 1, TCPPROXY_TO_CLIENT = 2 };

/* From now on nothing passes in these directions (an OR of the two; 0: all passes). What is sent
 * meanwhile passes when the cut ends, as TCP repeats it; new connections are accepted, and wait. */
void tcpproxy_cut(struct tcpproxy *proxy, unsigned directions);
/* Each piece is passed on so much later, in both directions. */
void tcpproxy_delay(struct tcpproxy *proxy, int64_t ms);
/* Resets all connections, with what waits in them; while refuse is true also each new one. */
void tcpproxy_reset(struct tcpproxy *proxy, bool refuse);
/* Bytes passed so far, or that wait because of a cut or delay, in one direction. */
uint64_t tcpproxy_passed(struct tcpproxy *proxy, enum tcpproxy_direction direction);
uint64_t tcpproxy_waiting(struct tcpproxy *proxy, enum tcpproxy_direction direction);

/* Keeps a copy of the next HTTP request without TLS that has this text in its head or its body,
 * whether it is passed on or not. */
void tcpproxy_keep(struct tcpproxy *proxy, const char *text);
bool tcpproxy_kept(struct tcpproxy *proxy); /* … and whether it has come */
/* Sends the copy to the server on a connection of its own, as often as asked for, and waits for the
 * beginning of the answer. Its HTTP status; -1: no answer, with the cause on stderr. */
int tcpproxy_replay(struct tcpproxy *proxy);
