/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/engine.h"
#include "broker/keyring.h"
#include "base/error.h"

#include <stdbool.h>
#include <uv.h>

/* The broker's HTTP API (openapi.json): HTTP/1.1 on a Unix socket and on TCP. It turns requests
 * into events for the engine and the core's answers into HTTP responses. Who may do what:
 * docs/security.md. */

struct kept;

struct http_options {
    uv_loop_t *loop;
    struct engine *engine;
    const struct bearers *bearers; /* of the engine */
    struct keyring *keyring;
    const struct config *config; /* until it is destroyed, or a reload replaces it */
    struct kept *kept;           /* sockets from before a restart; NULL: none are kept */
    /* Lets another broker lead, once the answer is sent; NULL: this broker is alone. */
    void (*step_down)(void *arg);
    void *step_down_arg;
};

/* Of the loop's worker threads, that munged and name servers may keep busy for seconds. */
enum { HTTP_THREADS = 6 };

struct http;

/* Descriptors that the process needs for so many connections, all of them with TLS; and what more
 * of them are good for: connections that wait for their handshake. */
uint64_t http_descriptors(unsigned connections_max);
uint64_t http_descriptors_wanted(unsigned connections_max);

/* Binds, starts to listen and registers itself with engine_listen. NULL with a sentence in err: a
 * user that does not exist, a socket in use. */
struct http *http_create(const struct http_options *options, struct error *err);

/* A reload, in steps, so that it happens wholly or not at all together with what others reload.
 *
 * Heeds admins, metrics_users, shared_users, clusters, metrics_anonymous, the TLS files,
 * plugin_login and launch_key_file (read again, whether or not their names have changed) and
 * munge_socket; the rest is as http_create had it. Rights change for connections that are open,
 * too: each request is judged by what is known when it comes. */
struct http_change;

/* Reads and resolves all of it, which may take long: in any thread, for nothing is changed. Borrows
 * from config. NULL with a sentence in err. */
struct http_change *http_change_read(const struct config *config, struct error *err);
/* Whether it can be put into force while it runs: 0, or a code with a sentence. */
int http_change_check(const struct http *http, const struct http_change *change, struct error *err);
/* Each ends the change. */
void http_adopt(struct http *http, struct http_change *change);
void http_change_discard(struct http_change *change); /* in any thread; NULL is allowed */

/* TCP port, 0 without TCP. */
int http_port(const struct http *http);
/* Begins to listen for jobs, where the configuration says so; once, by a broker that serves: of
 * several addresses of one name libfabric takes the one that is not refused. */
int http_open_front(struct http *http, struct error *err);
/* That of [front] listen. */
int http_front_port(const struct http *http);

/* A reload of the configuration was put into force, or refused, with the cause: for /metrics and
 * the status. */
void http_reloaded(struct http *http, const char *refusal);

/* Before http_quiesce, where listening sockets are kept: accepts nothing more, and goes on until
 * who had come by now has asked, two seconds at most; then done is called from the loop. */
void http_drain(struct http *http, void (*done)(void *arg), void *arg);

/* Takes no more connections and requests (503, Connection: close) and ends event streams; what was
 * accepted still gets its answer. Call before engine_stop. */
void http_quiesce(struct http *http);

/* Lets the answers that are on their way leave (two seconds at most), then closes and frees
 * everything; closed is called from the loop. Only when the engine has stopped, or never started:
 * it must not answer calls any more. NULL is allowed (closed is not called). */
void http_destroy(struct http *http, void (*closed)(void *arg), void *arg);
