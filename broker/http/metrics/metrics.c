#include "broker/http/metrics/metrics.h"

#include "broker/http/request/call.h"
#include "broker/http/metrics/usage.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_on(const struct core *core, enum alarm_kind kind, const char *cluster)
{
    struct core_alarm alarm;
    for (uint32_t i = 0; core_alarm(core, i, &alarm); i++) {
        const char *of = alarm.cluster ? alarm.cluster : "";
        if (alarm.kind == kind && !strcmp(of, cluster))
            return true;
    }
    return false;
}

/* All that there can be, also those that are off: an alert needs the zero to end. */
static void write_alarms(struct exposition *to, const struct core *core)
{
    struct core_cluster_status cluster;
    exposition_family(to, "mcastd_alarm", METRIC_GAUGE,
                      "1 while an alarm is on; cluster is empty when it is not of one cluster.");
    for (int kind = 0; kind < ALARM_KIND_COUNT; kind++) {
        const char *word = alarm_kind_word((enum alarm_kind)kind);
        exposition_count(to, is_on(core, (enum alarm_kind)kind, ""),
                         LABELS("alarm", word, "cluster", ""));
        for (uint32_t i = 0; core_cluster_status(core, i, &cluster); i++)
            exposition_count(to, is_on(core, (enum alarm_kind)kind, cluster.name),
                             LABELS("alarm", word, "cluster", cluster.name));
    }
}

static void write_storage(struct exposition *to, const struct readings *readings)
{
    const struct engine_counters *counters = &readings->counters;
    exposition_family(to, "mcastd_commits_total", METRIC_COUNTER, "Commits that succeeded.");
    exposition_count(to, counters->commits, NULL);
    exposition_family(to, "mcastd_commit_failures_total", METRIC_COUNTER,
                      "Attempts to commit that failed; each batch is tried again every second.");
    exposition_count(to, counters->commit_failures, NULL);
    exposition_family(to, "mcastd_commit_duration_seconds", METRIC_HISTOGRAM,
                      "How long commits that succeeded took.");
    exposition_histogram(to, counters->commit_times, NULL);
    exposition_family(to, "mcastd_commit_records", METRIC_HISTOGRAM,
                      "Records that one commit saved: many when many requests share it.");
    exposition_histogram(to, counters->commit_sizes, NULL);
    exposition_family(to, "mcastd_records_unsaved", METRIC_GAUGE,
                      "Records that are gathered or being written.");
    exposition_count(to, counters->unsaved, NULL);
    exposition_family(to, "mcastd_storage_failing", METRIC_GAUGE,
                      "1 while nothing can be saved, so that changes are refused.");
    exposition_count(to, counters->storage_failing, NULL);
}

static void write_loop(struct exposition *to, const struct engine_counters *counters)
{
    exposition_family(to, "mcastd_steps_total", METRIC_COUNTER,
                      "Events that the core has decided on.");
    exposition_count(to, counters->steps, NULL);
    exposition_family(to, "mcastd_loop_absence_seconds", METRIC_HISTOGRAM,
                      "Turns of the event loop: how long nobody else was served.");
    exposition_histogram(to, counters->loop_absence, NULL);
    exposition_family(to, "mcastd_loop_absence_max_seconds", METRIC_GAUGE,
                      "The longest turn of the event loop in the last five minutes.");
    exposition_real(to, (double)counters->loop_absence_us_peak / 1e6, NULL);
}

static void write_reloads(struct exposition *to, const struct http *http)
{
    exposition_family(to, "mcastd_reloads_total", METRIC_COUNTER,
                      "Reloads of the configuration, applied wholly or refused wholly.");
    exposition_count(to, http->reloads, LABELS("outcome", "applied"));
    exposition_count(to, http->reloads_refused, LABELS("outcome", "refused"));
    exposition_family(to, "mcastd_reload_refused", METRIC_GAUGE,
                      "1 when the last reload was refused, so that the files are not what is in "
                      "force.");
    exposition_count(to, http->reload_refused, NULL);
}

/* Named as every exporter names them, so that a site's own dashboards find them. */
static void write_usage(struct exposition *to, int64_t started_ms)
{
    struct usage usage;
    usage_read(&usage);
    exposition_family(to, "process_start_time_seconds", METRIC_GAUGE,
                      "When the broker started, Unix time.");
    exposition_time(to, started_ms, NULL);
    exposition_family(to, "process_cpu_seconds_total", METRIC_COUNTER,
                      "CPU time taken, user and system.");
    exposition_real(to, (double)usage.cpu_us / 1e6, NULL);
    exposition_family(to, "process_resident_memory_bytes", METRIC_GAUGE, "Resident memory.");
    exposition_count(to, usage.resident_bytes, NULL);
    exposition_family(to, "process_virtual_memory_bytes", METRIC_GAUGE, "Virtual memory.");
    exposition_count(to, usage.virtual_bytes, NULL);
    exposition_family(to, "process_open_fds", METRIC_GAUGE, "Open file descriptors.");
    exposition_count(to, usage.fds, NULL);
    exposition_family(to, "process_max_fds", METRIC_GAUGE, "How many descriptors may be open.");
    exposition_count(to, usage.fds_max, NULL);
}

static void write_process(struct exposition *to, const struct readings *readings)
{
    const struct engine_counters *counters = &readings->counters;
    exposition_family(to, "mcastd_build_info", METRIC_GAUGE, "1, with the version as a label.");
    exposition_count(to, 1, LABELS("version", MCAST_VERSION));
    exposition_family(to, "mcastd_role", METRIC_GAUGE, "1 for the role that the broker has.");
    for (int role = ROLE_STARTING; role <= ROLE_STANDBY; role++)
        exposition_count(to, (int)counters->role == role,
                         LABELS("role", broker_role_word((enum broker_role)role)));
    write_reloads(to, readings->http);
    write_loop(to, counters);
    write_usage(to, counters->started_ms);
}

static void render(const struct http *http, struct writer *out)
{
    struct exposition to = {.out = out};
    struct readings readings = {.http = http, .core = engine_core(http->engine)};
    writer_reset(out);
    core_status(readings.core, &readings.status);
    engine_counters(http->engine, &readings.counters);
    write_process(&to, &readings);
    write_alarms(&to, readings.core);
    metrics_jobs(&to, &readings);
    metrics_fabric(&to, &readings);
    write_storage(&to, &readings);
    metrics_requests(&to, &readings);
}

/* ---- the text that is shared ---- */

struct metrics_text {
    unsigned uses; /* by http, while it is the newest, and by each answer that is under way */
    uint64_t rendered_ms;
    struct writer out;
};

void metrics_text_drop(struct metrics_text *text)
{
    if (!text || --text->uses > 0)
        return;
    writer_release(&text->out);
    free(text);
}

/* An admin who has just done something need not wait to see it. */
static bool wants_fresh(struct call *call)
{
    const char *control = call_header(call, MHD_HTTP_HEADER_CACHE_CONTROL);
    return call->identity.admin && control && !strcasecmp(control, "no-cache");
}

/* The newest, rendered now if it is too old; NULL: no memory. What is being sent is not changed. */
static struct metrics_text *newest_text(struct http *http, bool fresh)
{
    struct metrics_text *text = http->metrics_text;
    const uint64_t now_ms = uv_now(http->loop);
    if (text && !fresh && now_ms - text->rendered_ms < METRICS_EVERY_MS)
        return text;
    if (!text || text->uses > 1) {
        metrics_text_drop(text);
        text = http->metrics_text = calloc(1, sizeof *text);
        if (!text)
            return NULL;
        text->uses = 1;
    }
    render(http, &text->out);
    text->rendered_ms = now_ms;
    if (!text->out.failed)
        return text;
    http->metrics_text = NULL;
    metrics_text_drop(text);
    return NULL;
}

void metrics_handle(struct call *call)
{
    struct metrics_text *text = newest_text(call->http, wants_fresh(call));
    if (!text) {
        problem_set(&call->problem, MHD_HTTP_SERVICE_UNAVAILABLE, "out-of-memory", NULL,
                    "there is no memory to write the metrics; try again");
        call_refuse(call);
        return;
    }
    text->uses++;
    call->metrics_text = text;
    call->document = text->out.data;
    call->document_length = text->out.used;
    call_reply(call, MHD_HTTP_OK, EXPOSITION_TYPE);
}
