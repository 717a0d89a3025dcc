/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/routes.h"

enum {
    SMALL_BODY_MAX = 1 << 14,
    SHARE_BODY_MAX = 1 << 16,
    BODY_MAX = 1 << 20,
    SYNC_BODY_MAX = 16 << 20
};

static const char *const release_query[] = {"number", NULL};
static const char *const env_query[] = {"step", NULL};
static const char *const steps_query[] = {"wait", NULL};
static const char *const cleanup_query[] = {"wait", "below", NULL};
static const char *const list_query[] = {"cluster", "node",  "state", "uid",
                                         "silent",  "limit", "after", NULL};
static const char *const unshare_query[] = {"when", NULL};
static const char *const events_query[] = {"after", "follow", "kind", "cluster", "job", NULL};
static const char *const ownevents_query[] = {"after", "follow", "kind", NULL};
static const char *const doctor_query[] = {"ask", NULL};
static const char *const history_query[] = {"after", NULL};
static const char *const options_query[] = {"cluster", NULL};
static const char *const topology_query[] = {"addresses", NULL};
static const char *const nodes_query[] = {"cluster", "limit", "after", NULL};

#define PLUGIN_PATH "/fabric/collectives/jobs"
#define JOB_PATH "/v1/clusters/{}/jobs/{}"

const struct route routes[ROUTES] = {
    {METHOD_PUT, NEED_CLUSTER, JOB_PATH, .handle = reserve_handle, .render = reserve_render,
     .body_max = BODY_MAX, .changes = true},
    {METHOD_DELETE, NEED_CLUSTER, JOB_PATH, .handle = release_handle, .render = release_render,
     .query = release_query, .changes = true},
    {METHOD_GET, NEED_PEER, JOB_PATH, .handle = job_handle},
    {METHOD_GET, NEED_PEER, JOB_PATH "/env", .handle = env_handle, .query = env_query},
    {METHOD_POST, NEED_CLUSTER, JOB_PATH "/launch", .handle = launch_handle,
     .render = launch_answer_render, .body_max = SMALL_BODY_MAX, .changes = true},
    {METHOD_PUT, NEED_NODE, JOB_PATH "/nodes/{}", .handle = node_handle, .render = node_render,
     .body_max = SMALL_BODY_MAX, .changes = true},
    {METHOD_PUT, NEED_CLUSTER, JOB_PATH "/nodes", .handle = nodes_handle, .render = nodes_render,
     .body_max = BODY_MAX, .changes = true},
    {METHOD_GET, NEED_PEER, JOB_PATH "/steps", .handle = steps_handle, .render = steps_render,
     .query = steps_query},
    {METHOD_GET, NEED_BEARER, "/v1/reservation", .handle = ownjob_handle, .both = true},
    {METHOD_GET, NEED_BEARER, "/v1/reservation/trees", .handle = owntrees_handle, .both = true},
    {METHOD_GET, NEED_BEARER, "/v1/reservation/options", .handle = options_handle, .both = true},
    {METHOD_GET, NEED_BEARER, "/v1/reservation/events", .handle = events_handle,
     .query = ownevents_query, .both = true},
    {METHOD_GET, NEED_PEER, JOB_PATH "/traffic", .handle = traffic_handle},
    {METHOD_GET, NEED_BEARER, "/v1/reservation/traffic", .handle = owntraffic_handle, .both = true},
    {METHOD_GET, NEED_PEER, JOB_PATH "/topology", .handle = topology_handle,
     .query = topology_query},
    {METHOD_GET, NEED_BEARER, "/v1/reservation/topology", .handle = owntopology_handle,
     .query = topology_query, .both = true},
    {METHOD_GET, NEED_MANAGER, "/v1/fabric", .handle = fabric_handle},
    {METHOD_GET, NEED_MANAGER, "/v1/nodes", .handle = fabric_nodes_handle, .query = nodes_query},
    {METHOD_GET, NEED_MANAGER, "/v1/nodes/{}", .handle = fabric_node_handle},
    {METHOD_DELETE, NEED_ADMIN, "/v1/nodes/{}", .handle = nics_forget_handle,
     .render = nics_forget_render, .changes = true},
    {METHOD_DELETE, NEED_BEARER, "/v1/reservation/steps/{}", .handle = cleanup_handle,
     .render = cleanup_render, .query = cleanup_query, .changes = true},
    {METHOD_POST, NEED_BEARER, "/v1/reservation/tokens", .handle = mint_handle,
     .body_max = SMALL_BODY_MAX},
    {METHOD_POST, NEED_ADMIN, "/v1/tokens/rotate", .handle = rotate_handle},
    {METHOD_GET, NEED_PEER, "/v1/jobs", .handle = list_handle, .query = list_query},
    {METHOD_GET, NEED_PEER, "/v1/vnis", .handle = shares_handle},
    {METHOD_PUT, NEED_PEER, "/v1/vnis/{}", .handle = share_handle, .render = share_render,
     .body_max = SHARE_BODY_MAX, .changes = true},
    {METHOD_GET, NEED_PEER, "/v1/vnis/{}", .handle = share_show_handle},
    {METHOD_DELETE, NEED_PEER, "/v1/vnis/{}", .handle = unshare_handle, .render = share_render,
     .query = unshare_query, .changes = true},
    {METHOD_POST, NEED_CLUSTER, "/v1/clusters/{}/sync", .handle = sync_handle,
     .render = sync_render, .body_max = SYNC_BODY_MAX, .changes = true},
    {METHOD_PUT, NEED_ADMIN, "/v1/nodes/{}/fence", .handle = fence_handle, .render = fence_render,
     .body_max = SMALL_BODY_MAX, .changes = true},
    {METHOD_PUT, NEED_HOST, "/v1/nodes/{}/boot", .handle = boot_handle, .render = boot_render,
     .body_max = SMALL_BODY_MAX, .changes = true},
    {METHOD_PUT, NEED_HOST, "/v1/nodes/{}/inventory", .handle = nics_handle, .render = nics_render,
     .body_max = SMALL_BODY_MAX, .changes = true},
    {METHOD_GET, NEED_PEER, "/v1/nodes/{}/inventory", .handle = nics_show_handle},
    {METHOD_POST, NEED_ADMIN, "/v1/accept-loss", .handle = accept_loss_handle,
     .render = accept_loss_render, .body_max = SMALL_BODY_MAX, .changes = true},
    {METHOD_POST, NEED_ADMIN, "/v1/clusters/{}/claim", .handle = claim_handle,
     .render = claim_render, .body_max = SMALL_BODY_MAX, .changes = true},
    {METHOD_POST, NEED_ADMIN, "/v1/step-down", .handle = step_down_handle,
     .body_max = SMALL_BODY_MAX},
    {METHOD_GET, NEED_PEER, "/v1/events", .handle = events_handle, .query = events_query},
    {METHOD_GET, NEED_PEER, "/v1/options", .handle = options_handle, .query = options_query},
    {METHOD_GET, NEED_PEER, "/v1/status", .handle = status_handle, .always = true},
    {METHOD_GET, NEED_ADMIN, "/v1/doctor", .handle = doctor_handle, .query = doctor_query,
     .always = true},
    {METHOD_GET, NEED_LOOK, "/v1/whoami", .handle = whoami_handle, .always = true},
    {METHOD_GET, NEED_PEER, "/v1/history", .handle = history_handle, .query = history_query,
     .always = true},
    {METHOD_GET, NEED_METRICS, "/metrics", .handle = metrics_handle, .always = true},
    {METHOD_GET, NEED_NOTHING, "/healthz", .handle = health_alive, .always = true},
    {METHOD_GET, NEED_NOTHING, "/readyz", .handle = health_ready, .always = true},
    {METHOD_GET, NEED_NOTHING, "/openapi.json", .handle = openapi_handle, .always = true},
    {METHOD_POST, NEED_BEARER, "/fabric/collectives/multicasts", .handle = join_handle,
     .render = join_render, .body_max = BODY_MAX, .front = true},
    {METHOD_DELETE, NEED_BEARER, "/fabric/collectives/multicasts/{}", .handle = leave_handle,
     .render = leave_render, .front = true},
    {METHOD_POST, NEED_NOTHING, "/oauth2/token", .handle = plugin_token_handle,
     .body_max = SMALL_BODY_MAX, .form = true, .front = true},
    {METHOD_GET, NEED_PLUGIN, PLUGIN_PATH "/", .handle = plugin_list_handle, .front = true},
    {METHOD_POST, NEED_PLUGIN, PLUGIN_PATH, .handle = plugin_reserve_handle,
     .render = plugin_reserve_render, .body_max = SMALL_BODY_MAX, .changes = true, .front = true},
    {METHOD_GET, NEED_PLUGIN, PLUGIN_PATH "/{}", .handle = plugin_job_handle, .front = true},
    {METHOD_PATCH, NEED_PLUGIN, PLUGIN_PATH "/{}", .handle = plugin_step_handle,
     .render = plugin_done_render, .body_max = SMALL_BODY_MAX, .changes = true, .front = true},
    {METHOD_DELETE, NEED_PLUGIN, PLUGIN_PATH "/{}", .handle = plugin_release_handle,
     .render = plugin_done_render, .changes = true, .front = true},
};
