#include "broker/http/metrics/metrics.h"

#include "broker/http/auth/decoder.h"
#include "broker/http/auth/resolver.h"
#include "broker/http/listen/tls.h"

#include <stdio.h>

/* Connections and requests of our own interface. */

static void write_connections(struct exposition *to, const struct http *http)
{
    const struct traffic *traffic = &http->traffic;
    const struct server *tcp = http->doors[DOOR_TCP].server;
    exposition_family(to, "mcastd_http_connections", METRIC_GAUGE, "Open connections, by door.");
    for (int door = 0; door < DOORS; door++)
        exposition_count(to, traffic->open[door], LABELS("door", door_word(door)));
    exposition_family(to, "mcastd_http_connections_max", METRIC_GAUGE,
                      "Connections above this are refused.");
    exposition_count(to, http->places.max, NULL);
    exposition_family(to, "mcastd_http_connections_total", METRIC_COUNTER,
                      "Connections accepted, by door.");
    for (int door = 0; door < DOORS; door++)
        exposition_count(to, traffic->accepted[door], LABELS("door", door_word(door)));
    exposition_family(
        to, "mcastd_http_connections_refused_total", METRIC_COUNTER,
        "Connections refused or closed, and told 503: a manager's above the limit; "
        "above the share of those without a role; an idle or unfinished one displaced "
        "by a newcomer; one whose request's head was too slow.");
    for (int refusal = 0; refusal < TRAFFIC_REFUSALS; refusal++)
        exposition_count(to, traffic->refused[refusal],
                         LABELS("reason", traffic_refusal_word((enum traffic_refusal)refusal)));
    exposition_family(to, "mcastd_http_connections_waiting", METRIC_GAUGE,
                      "Connections over TCP that wait in the kernel's line to be let in.");
    exposition_count(to, tcp ? server_waiting(tcp) : 0, NULL);
    exposition_family(to, "mcastd_event_subscribers", METRIC_GAUGE, "Open event streams.");
    exposition_count(to, traffic->subscribers, NULL);
    exposition_family(to, "mcastd_http_requests_under_way", METRIC_GAUGE,
                      "Requests that are not answered yet.");
    exposition_count(to, http->owed, NULL);
    exposition_family(to, "mcastd_munge_credentials_waiting", METRIC_GAUGE,
                      "MUNGE credentials that wait for munged.");
    exposition_count(to, decoder_waiting(http->decoder), NULL);
    exposition_family(to, "mcastd_node_names_waiting", METRIC_GAUGE,
                      "Requests of nodes that wait for a name server.");
    exposition_count(to, resolver_waiting(http->resolver), NULL);
    exposition_family(to, "mcastd_http_body_bytes", METRIC_GAUGE,
                      "Memory that long request bodies take, together.");
    exposition_count(to, http->body_bytes, NULL);
}

static const char *pattern(size_t row)
{
    return row < ROUTES ? routes[row].pattern : "none";
}

/* HEAD is answered as GET is, so it is counted there. */
static const char *method_word(size_t row)
{
    if (row == ROUTES)
        return "";
    switch (routes[row].method) {
    case METHOD_GET:
        return "GET";
    case METHOD_PUT:
        return "PUT";
    case METHOD_POST:
        return "POST";
    case METHOD_DELETE:
        return "DELETE";
    }
    return "";
}

static void write_answers(struct exposition *to, const struct traffic *traffic)
{
    exposition_family(to, "mcastd_http_requests_total", METRIC_COUNTER,
                      "Requests answered, by route, method and status.");
    for (size_t row = 0; row <= ROUTES; row++) {
        char status[12];
        for (int i = 0; i < STATUS_END - STATUS_FIRST; i++) {
            if (traffic->answered[row][i] == 0)
                continue;
            (void)snprintf(status, sizeof status, "%d", i + STATUS_FIRST);
            exposition_count(
                to, traffic->answered[row][i],
                LABELS("method", method_word(row), "route", pattern(row), "status", status));
        }
    }
}

/* Of routes that were called: a histogram is long. */
static void write_times(struct exposition *to, const struct traffic *traffic)
{
    exposition_family(to, "mcastd_http_request_duration_seconds", METRIC_HISTOGRAM,
                      "From a request's head to its answer, by route; event streams, which have no "
                      "end, are left out.");
    for (size_t row = 0; row <= ROUTES; row++)
        if (traffic->times[row].count > 0)
            exposition_histogram(to, &traffic->times[row],
                                 LABELS("method", method_word(row), "route", pattern(row)));
}

static void write_certificates(struct exposition *to, const struct readings *readings)
{
    const struct tls *tls = readings->http->tls;
    exposition_family(to, "mcastd_certificate_expires_timestamp_seconds", METRIC_GAUGE,
                      "When a certificate of ours that is in use ends, Unix time.");
    exposition_time(to, tls ? tls_expires(tls) * 1000 : 0, LABELS("use", "server"));
    exposition_time(to, readings->counters.fabric.certificate_ends_ms,
                    LABELS("use", "fabric-manager"));
}

void metrics_requests(struct exposition *to, const struct readings *readings)
{
    write_connections(to, readings->http);
    write_answers(to, &readings->http->traffic);
    write_times(to, &readings->http->traffic);
    write_certificates(to, readings);
}
