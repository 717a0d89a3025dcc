/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/metrics.h"

#include "broker/http/auth/mungecred.h"
#include "broker/http/auth/resolver.h"
#include "broker/http/listen/tls.h"
#include "broker/http/request/call.h"

#include <stdlib.h>
#include <strings.h>

static void read_more(struct readings *readings)
{
    const struct http *http = readings->http;
    const struct server *tcp = http->listeners[LISTENER_TCP].server;
    readings->fm_configured = core_config_of(readings->core)->fm_present;
    readings->events_kept = readings->status.last_seq + 1 - readings->status.first_seq;
    readings->tcp_waiting = tcp ? server_waiting(tcp) : 0;
    readings->munge_waiting = decoder_waiting(http->decoder);
    readings->names_waiting = resolver_waiting(http->resolver);
    readings->certificate_ends_ms = http->tls ? tls_expires(http->tls) * 1000 : 0;
    usage_read(&readings->usage);
}

static void render_text(const struct http *http, struct writer *out)
{
    struct exposition to = {.out = out};
    struct readings readings = {.http = http, .core = engine_core(http->engine)};
    writer_reset(out);
    core_status(readings.core, &readings.status);
    engine_counters(http->engine, &readings.counters);
    read_more(&readings);
    metrics_write(&to, &readings);
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
    render_text(http, &text->out);
    text->rendered_ms = now_ms;
    if (!text->out.failed)
        return text;
    http->metrics_text = NULL;
    metrics_text_drop(text);
    return NULL;
}

int metrics_handle(struct call *call)
{
    struct metrics_text *text = newest_text(call->http, wants_fresh(call));
    if (!text)
        return problem_set(&call->problem, 503, "out-of-memory", NULL,
                           "there is no memory to write the metrics; try again");
    text->uses++;
    call->metrics_text = text;
    call->document = text->out.data;
    call->document_length = text->out.used;
    return call_reply(call, MHD_HTTP_OK, EXPOSITION_TYPE);
}
