/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/api/diagnosis.h"
#include "broker/http/http.h"
#include "broker/http/routes.h"
#include "broker/http/metrics/metrics.h"

/* GET /v1/doctor: what the broker finds wrong with itself and its surroundings, for admins, because
 * it shows the site's insides. All of it is in memory but for the number of descriptors, which the
 * kernel gives at once. Files are for mcastctl to read: it may wait for them. With ask=yes the
 * fabric manager is asked for its list: what looks again and again leaves it alone. */

/* NULL: none has VNIs of the pool. */
static const char *find_partition(const struct core *core)
{
    struct core_partition one;
    for (size_t i = 0; core_partition(core, i, &one); i++)
        if (one.pooled > 0)
            return one.name;
    return NULL;
}

static void write_findings(struct call *call)
{
    const struct http *http = call->http;
    const struct core *core = engine_core(http->engine);
    struct core_cluster_status clusters[CLUSTERS_MAX] = {0};
    struct readings readings;
    readings_take(&readings, http);
    const struct plugin_use *plugins[CLUSTERS_MAX] = {0};
    for (uint32_t i = 0; i < CLUSTERS_MAX && core_cluster_status(core, i, &clusters[i]); i++)
        plugins[i] = pluginlogins_use(http->plugin_logins, clusters[i].name);
    const struct diagnosis_facts facts = {
        .now_ms = engine_now_ms(http->engine),
        .config = core_config_of(core),
        .core = &readings.status,
        .clusters = clusters,
        .plugins = plugins,
        .alarms = core_alarms(core),
        .foreign_partition = find_partition(core),
        .foreign_user = core_foreign_user(core),
        .counters = &readings.counters,
        .reload_refused = http->reload_refused,
        .reload_refusal = http->reload_refusal,
        .munged_away_ms = http->config->munge_socket[0] != '\0' ? http->munged_away_ms : 0,
        .certificate_ends_ms = readings.certificate_ends_ms,
        .files_open = readings.usage.fds,
        .files_max = readings.usage.fds_max,
        .files_needed = http_descriptors(http->quota.max),
        .connections_max = http->quota.max,
        .out = &call->out,
    };
    diagnosis_write(&facts);
}

int doctor_handle(struct call *call)
{
    struct writer *out = &call->out;
    struct engine *engine = call->http->engine;
    struct core_status status;
    const char *ask = target_query(&call->target, "ask");
    if (ask && strcmp(ask, "yes") != 0 && strcmp(ask, "no") != 0)
        return problem_set(&call->problem, 422, "invalid", "ask", "ask is yes or no");
    if (ask && strcmp(ask, "yes") == 0)
        engine_step(engine, &(struct core_event){.kind = CORE_PROBE});
    core_status(engine_core(engine), &status);
    writer_begin_object(out, NULL);
    writer_string(out, "version", MCAST_VERSION);
    writer_time(out, "time", engine_now_ms(engine));
    writer_bool(out, "fabric_manager_asked", status.link_probed);
    writer_string(out, "job_ca", core_config_of(engine_core(engine))->job_ca);
    write_findings(call);
    writer_end_object(out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
