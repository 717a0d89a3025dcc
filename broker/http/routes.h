/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/route.h"

/* The table of all calls, and what carries each out: one noun a file. openapi.json says the same
 * to the world; tests/system/http holds them together. */

enum { ROUTES = 54 };
extern const struct route routes[ROUTES];

route_handle reserve_handle, job_handle, release_handle, env_handle, node_handle, nodes_handle,
    fence_handle, boot_handle, accept_loss_handle, claim_handle, step_down_handle, steps_handle,
    ownjob_handle, owntrees_handle, options_handle, cleanup_handle, launch_handle, mint_handle,
    rotate_handle, list_handle, sync_handle, events_handle, status_handle, whoami_handle,
    doctor_handle, history_handle, metrics_handle, health_alive, health_ready, openapi_handle,
    join_handle, leave_handle, plugin_token_handle, plugin_list_handle, plugin_reserve_handle,
    plugin_job_handle, plugin_step_handle, plugin_release_handle, nics_handle, nics_show_handle,
    nics_forget_handle, traffic_handle, owntraffic_handle, shares_handle, share_handle,
    share_show_handle, unshare_handle, fabric_handle, fabric_nodes_handle, fabric_node_handle,
    topology_handle, owntopology_handle;
route_render reserve_render, release_render, node_render, nodes_render, fence_render, boot_render,
    accept_loss_render, claim_render, steps_render, cleanup_render, sync_render,
    launch_answer_render, join_render, leave_render, plugin_reserve_render, plugin_done_render,
    nics_render, nics_forget_render, share_render;
