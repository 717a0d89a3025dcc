#include "broker/http/metrics.h"

#include <stdio.h>

/* Connections and requests of our own interface. */

static void write_connections(struct exposition *to, const struct http *http)
{
    exposition_family(to, "mcastd_http_connections", METRIC_GAUGE, "Open connections.");
    exposition_count(to, http->places.taken, NULL);
    exposition_family(to, "mcastd_http_connections_max", METRIC_GAUGE,
                      "Connections above this are refused.");
    exposition_count(to, http->places.max, NULL);
    exposition_family(to, "mcastd_http_connections_total", METRIC_COUNTER, "Connections accepted.");
    exposition_count(to, http->accepted, NULL);
    exposition_family(to, "mcastd_http_connections_refused_total", METRIC_COUNTER,
                      "Connections above the limit or their user's share.");
    exposition_count(to, http->surplus_refused, NULL);
    exposition_family(to, "mcastd_http_requests_under_way", METRIC_GAUGE,
                      "Requests that are not answered yet.");
    exposition_count(to, http->owed, NULL);
}

/* HEAD is answered as GET is, so it is counted there. */
static const char *method_word(enum method method)
{
    switch (method) {
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

static void write_answers(struct exposition *to, const struct http *http)
{
    exposition_family(to, "mcastd_http_requests_total", METRIC_COUNTER,
                      "Requests answered, by route, method and status.");
    for (size_t row = 0; row <= ROUTES; row++) {
        const char *method = row < ROUTES ? method_word(routes[row].method) : "";
        const char *pattern = row < ROUTES ? routes[row].pattern : "none";
        char status[8];
        for (int i = 0; i < STATUS_END - STATUS_FIRST; i++) {
            if (http->answered[row][i] == 0)
                continue;
            (void)snprintf(status, sizeof status, "%d", i + STATUS_FIRST);
            exposition_count(to, http->answered[row][i], "method", method, "route", pattern,
                             "status", status, NULL);
        }
    }
}

void metrics_requests(struct exposition *to, const struct readings *readings)
{
    write_connections(to, readings->http);
    write_answers(to, readings->http);
}
