/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/sse.h"

#include <string.h>

static int dispatch(struct sse *stream, sse_event_fn *each, void *data)
{
    int rc = 0;
    if (stream->has_data) {
        struct sse_event event = {
            .name = stream->name.length > 0 ? text_string(&stream->name) : "message",
            .data = text_string(&stream->data),
        };
        rc = each(&event, data);
    }
    text_clear(&stream->name);
    text_clear(&stream->data);
    stream->has_data = false;
    return rc;
}

static int add_data(struct sse *stream, const char *value, size_t length)
{
    if (stream->data.length + length + 1 > SSE_DATA_MAX)
        return SSE_TOO_LONG;
    if (stream->has_data && !text_add(&stream->data, "\n", 1))
        return SSE_NOMEM;
    stream->has_data = true;
    return text_add(&stream->data, value, length) ? 0 : SSE_NOMEM;
}

static int take_line(struct sse *stream, sse_event_fn *each, void *data)
{
    const char *line = text_string(&stream->line);
    const char *end = line + stream->line.length, *colon = memchr(line, ':', stream->line.length);
    size_t name = (size_t)((colon ? colon : end) - line);
    const char *value = colon ? colon + 1 : end;
    if (line == end)
        return dispatch(stream, each, data);
    if (value < end && *value == ' ')
        value++;
    size_t length = (size_t)(end - value);
    if (name == 4 && memcmp(line, "data", 4) == 0)
        return add_data(stream, value, length);
    if (name == 5 && memcmp(line, "event", 5) == 0) {
        text_clear(&stream->name);
        return text_add(&stream->name, value, length) ? 0 : SSE_NOMEM;
    }
    return 0;
}

int sse_feed(struct sse *stream, const char *bytes, size_t length, sse_event_fn *each, void *data)
{
    const char *end = bytes + length;
    while (bytes < end) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t piece = (size_t)((stop ? stop : end) - bytes);
        if (stream->line.length + piece > SSE_LINE_MAX)
            return SSE_TOO_LONG;
        if (!text_add(&stream->line, bytes, piece))
            return SSE_NOMEM;
        if (!stop)
            return 0;
        bytes = stop + 1;
        int rc = take_line(stream, each, data);
        text_clear(&stream->line);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void sse_release(struct sse *stream)
{
    text_release(&stream->line);
    text_release(&stream->name);
    text_release(&stream->data);
    *stream = (struct sse){0};
}
