/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_ROUTES_H
#define MCAST_BROKER_HTTP_ROUTES_H

#include "broker/http/route.h"

/* The table of all calls, and what carries each out: one noun a file. openapi.json says the same
 * to the world; tests/system/http holds them together. */

enum { ROUTES = 24 };
extern const struct route routes[ROUTES];

int reserve_handle(struct call *call);
void reserve_render(struct call *call, const struct answer *answer);
int job_handle(struct call *call);
int release_handle(struct call *call);
void release_render(struct call *call, const struct answer *answer);
int env_handle(struct call *call);
int node_handle(struct call *call);
void node_render(struct call *call, const struct answer *answer);
int fence_handle(struct call *call);
void fence_render(struct call *call, const struct answer *answer);
int boot_handle(struct call *call);
void boot_render(struct call *call, const struct answer *answer);
int accept_loss_handle(struct call *call);
void accept_loss_render(struct call *call, const struct answer *answer);
int claim_handle(struct call *call);
void claim_render(struct call *call, const struct answer *answer);
int steps_handle(struct call *call);
void steps_render(struct call *call, const struct answer *answer);
int ownjob_handle(struct call *call);
int cleanup_handle(struct call *call);
void cleanup_render(struct call *call, const struct answer *answer);
int mint_handle(struct call *call);
int rotate_handle(struct call *call);
int list_handle(struct call *call);
int sync_handle(struct call *call);
void sync_render(struct call *call, const struct answer *answer);
int events_handle(struct call *call);
int status_handle(struct call *call);
int whoami_handle(struct call *call);
int doctor_handle(struct call *call);
int metrics_handle(struct call *call);
int health_alive(struct call *call);
int health_ready(struct call *call);
int openapi_handle(struct call *call);

#endif
