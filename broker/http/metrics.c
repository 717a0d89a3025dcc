#include "broker/http/call.h"
#include "broker/http/routes.h"

#include <inttypes.h>

/* GET /metrics, for Prometheus (text format 0.0.4). */

static void head(struct writer *out, const char *name, const char *type, const char *text)
{
    writer_textf(out, "# HELP mcastd_%s %s\n# TYPE mcastd_%s %s\n", name, text, name, type);
}

static void line(struct writer *out, const char *name, uint64_t value)
{
    writer_textf(out, "mcastd_%s %" PRIu64 "\n", name, value);
}

static void single(struct writer *out, const char *name, const char *type, const char *text,
                   uint64_t value)
{
    head(out, name, type, text);
    line(out, name, value);
}

static void seconds(struct writer *out, const char *name, const char *type, const char *text,
                    double value)
{
    head(out, name, type, text);
    writer_textf(out, "mcastd_%s %.6f\n", name, value);
}

static void write_pools(struct writer *out, const struct core_status *status)
{
    head(out, "vnis", "gauge", "VNIs of the pool by what they are doing.");
    line(out, "vnis{state=\"free\"}", status->vnis_free);
    line(out, "vnis{state=\"live\"}", status->vnis_live);
    line(out, "vnis{state=\"held\"}", status->vnis_held);
    single(out, "vnis_pool", "gauge", "VNIs in the configured pool.", status->vnis_pool);
    single(out, "addresses_total", "gauge", "Multicast addresses of the fabric; 0: not known.",
           status->addresses_total);
    single(out, "addresses_reserved", "gauge", "Multicast addresses asked for and not given back.",
           status->addresses_reserved);
    head(out, "jobs", "gauge", "Reservations by state.");
    line(out, "jobs{state=\"active\"}", status->jobs_active);
    line(out, "jobs{state=\"releasing\"}", status->jobs_releasing);
    single(out, "jobs_with_addresses", "gauge", "Active jobs with multicast addresses.",
           status->jobs_reserved);
    single(out, "strays", "gauge", "Objects at the fabric manager that no job of ours owns.",
           status->strays);
    single(out, "events_last", "counter", "Sequence number of the last event.", status->last_seq);
}

static void write_fabric(struct writer *out, const struct core_status *status,
                         const struct engine_counters *counters)
{
    head(out, "fabric_manager_link", "gauge", "1 for the state the link is in.");
    for (int state = LINK_DOWN; state <= LINK_UP; state++)
        writer_textf(out, "mcastd_fabric_manager_link{state=\"%s\"} %d\n",
                     link_state_word((enum link_state)state), (int)status->link == state);
    head(out, "fabric_manager_calls_total", "counter",
         "Calls of the fabric manager by kind and outcome.");
    for (int kind = FMCALL_RESERVE; kind <= FMCALL_RELEASE; kind++)
        for (int outcome = FM_OK; outcome <= FM_UNAUTHORIZED; outcome++)
            writer_textf(
                out, "mcastd_fabric_manager_calls_total{kind=\"%s\",outcome=\"%s\"} %" PRIu64 "\n",
                fmcall_kind_word((enum fmcall_kind)kind),
                fmcall_outcome_word((enum fmcall_outcome)outcome),
                counters->fm->calls[kind][outcome]);
    single(out, "fabric_manager_connections_total", "counter",
           "Connections opened to the fabric manager.", counters->fabric.connections);
    head(out, "fabric_manager_calls_queued", "gauge", "Calls that wait for their turn.");
    line(out, "fabric_manager_calls_queued{kind=\"reserve\"}", status->calls_queued_reserve);
    line(out, "fabric_manager_calls_queued{kind=\"release\"}", status->calls_queued_release);
    line(out, "fabric_manager_calls_queued{kind=\"check\"}", status->calls_queued_check);
    head(out, "fabric_manager_releases_pending", "gauge",
         "Reservations that the fabric manager has still to give up, tried or not.");
    line(out, "fabric_manager_releases_pending", status->releases_pending);
    single(out, "fabric_manager_calls_under_way", "gauge", "Calls that wait for an answer.",
           status->calls_under_way);
}

static void write_storage(struct writer *out, const struct engine_counters *counters)
{
    single(out, "commits_total", "counter", "Commits that succeeded.", counters->commits);
    single(out, "commit_failures_total", "counter", "Commits that failed.",
           counters->commit_failures);
    single(out, "records_total", "counter", "Records committed.", counters->records);
    single(out, "commit_records_max", "gauge", "Records in the largest commit.",
           counters->commit_sizes->max);
    seconds(out, "commit_seconds_total", "counter", "Time spent in commits.",
            (double)counters->commit_times->sum / 1e6);
    seconds(out, "commit_seconds_max", "gauge", "The longest commit.",
            (double)counters->commit_times->max / 1e6);
    single(out, "records_unsaved", "gauge", "Records gathered or being written.",
           counters->unsaved);
    single(out, "storage_failing", "gauge", "1 while nothing can be saved.",
           counters->storage_failing);
    single(out, "steps_total", "counter", "Steps of the core.", counters->steps);
    seconds(out, "loop_absence_seconds_max", "gauge", "Longest time the loop was away.",
            (double)counters->loop_absence->max / 1e6);
    head(out, "role", "gauge", "1 for the role the broker has.");
    for (int role = ROLE_STARTING; role <= ROLE_STANDBY; role++)
        writer_textf(out, "mcastd_role{role=\"%s\"} %d\n", broker_role_word((enum broker_role)role),
                     (int)counters->role == role);
}

static void write_requests(struct writer *out, const struct http *http)
{
    single(out, "http_connections", "gauge", "Open connections.", http->places.taken);
    single(out, "http_connections_max", "gauge", "Connections above this are refused.",
           http->places.max);
    single(out, "http_connections_total", "counter", "Connections accepted.", http->accepted);
    single(out, "http_connections_refused_total", "counter",
           "Connections above the limit or their user's share.", http->surplus_refused);
    single(out, "http_requests_under_way", "gauge", "Requests not answered yet.", http->owed);
    head(out, "http_requests_total", "counter", "Requests answered, by route and status.");
    for (size_t row = 0; row <= ROUTES; row++) {
        char method[32] = "";
        if (row < ROUTES)
            methods_format(method, sizeof method, (unsigned)routes[row].method);
        for (int i = 0; i < STATUS_END - STATUS_FIRST; i++)
            if (http->answered[row][i])
                writer_textf(out,
                             "mcastd_http_requests_total{method=\"%s\",route=\"%s\",status=\"%d\"} "
                             "%" PRIu64 "\n",
                             method, row < ROUTES ? routes[row].pattern : "none", i + STATUS_FIRST,
                             http->answered[row][i]);
    }
}

void metrics_handle(struct call *call)
{
    struct writer *out = &call->out;
    struct core_status status;
    struct engine_counters counters;
    core_status(engine_core(call->http->engine), &status);
    engine_counters(call->http->engine, &counters);
    head(out, "build_info", "gauge", "1, with the version as a label.");
    line(out, "build_info{version=\"" MCAST_VERSION "\"}", 1);
    seconds(out, "start_time_seconds", "gauge", "When the broker started, Unix time.",
            (double)counters.started_ms / 1e3);
    write_pools(out, &status);
    write_fabric(out, &status, &counters);
    write_storage(out, &counters);
    write_requests(out, call->http);
    call_reply(call, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8");
}
