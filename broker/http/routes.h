#ifndef MCAST_BROKER_HTTP_ROUTES_H
#define MCAST_BROKER_HTTP_ROUTES_H

#include "broker/http/route.h"

/* The table of all calls, and what carries each out: one noun a file. openapi.json says the same
 * to the world; tests/system/http holds them together. */

enum { ROUTES = 24 };
extern const struct route routes[ROUTES];

void reserve_handle(struct call *call);
void reserve_render(struct call *call, const struct answer *answer);
void job_handle(struct call *call);
void release_handle(struct call *call);
void release_render(struct call *call, const struct answer *answer);
void env_handle(struct call *call);
void node_handle(struct call *call);
void node_render(struct call *call, const struct answer *answer);
void fence_handle(struct call *call);
void fence_render(struct call *call, const struct answer *answer);
void boot_handle(struct call *call);
void boot_render(struct call *call, const struct answer *answer);
void accept_loss_handle(struct call *call);
void accept_loss_render(struct call *call, const struct answer *answer);
void claim_handle(struct call *call);
void claim_render(struct call *call, const struct answer *answer);
void steps_handle(struct call *call);
void steps_render(struct call *call, const struct answer *answer);
void ownjob_handle(struct call *call);
void cleanup_handle(struct call *call);
void cleanup_render(struct call *call, const struct answer *answer);
void mint_handle(struct call *call);
void rotate_handle(struct call *call);
void list_handle(struct call *call);
void sync_handle(struct call *call);
void sync_render(struct call *call, const struct answer *answer);
void events_handle(struct call *call);
void status_handle(struct call *call);
void whoami_handle(struct call *call);
void doctor_handle(struct call *call);
void metrics_handle(struct call *call);
void health_alive(struct call *call);
void health_ready(struct call *call);
void openapi_handle(struct call *call);

#endif
