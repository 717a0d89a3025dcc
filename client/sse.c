#include "client/sse.h"

#include <string.h>

static int dispatch(struct sse *stream, sse_event_fn *each, void *data)
{
    int rc = 0;
    if (stream->has_data) {
        struct sse_event event = {
            .name = stream->name.length > 0 ? text_string(&stream->name) : "message",
            .data = text_string(&stream->data),
            .id = text_string(&stream->id),
        };
        rc = each(&event, data);
    }
    text_clear(&stream->name);
    text_clear(&stream->data);
    stream->has_data = false;
    return rc;
}

static int keep(struct text *text, const char *value, size_t length)
{
    text_clear(text);
    return text_add(text, value, length) ? 0 : SSE_NOMEM;
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

/* Digits only, else the whole line is to be ignored. */
static void set_retry(struct sse *stream, const char *value, size_t length)
{
    uint32_t ms = 0;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9' || ms > UINT32_MAX / 10 - 1)
            return;
        ms = ms * 10 + (uint32_t)(value[i] - '0');
    }
    stream->retry_ms = ms;
}

static int take_line(struct sse *stream, sse_event_fn *each, void *data)
{
    const char *line = text_string(&stream->line);
    size_t length = stream->line.length;
    if (!stream->begun && length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        length -= 3;
    }
    stream->begun = true;
    if (length == 0)
        return dispatch(stream, each, data);
    const char *colon = memchr(line, ':', length);
    size_t name = colon ? (size_t)(colon - line) : length;
    if (name == 0)
        return 0; /* a comment: how the server keeps the connection alive */
    const char *value = line + name + (colon ? 1 : 0);
    size_t rest = length - (size_t)(value - line);
    if (rest > 0 && value[0] == ' ') {
        value++;
        rest--;
    }
    if (name == 4 && memcmp(line, "data", 4) == 0)
        return add_data(stream, value, rest);
    if (name == 5 && memcmp(line, "event", 5) == 0)
        return keep(&stream->name, value, rest);
    if (name == 2 && memcmp(line, "id", 2) == 0)
        return memchr(value, '\0', rest) ? 0 : keep(&stream->id, value, rest);
    if (name == 5 && memcmp(line, "retry", 5) == 0)
        set_retry(stream, value, rest);
    return 0;
}

int sse_feed(struct sse *stream, const char *bytes, size_t length, sse_event_fn *each, void *data)
{
    const char *end = bytes + length;
    while (bytes < end) {
        if (stream->after_cr && *bytes == '\n') {
            stream->after_cr = false;
            bytes++;
            continue;
        }
        stream->after_cr = false;
        const char *stop = bytes;
        while (stop < end && *stop != '\n' && *stop != '\r')
            stop++;
        if (stream->line.length + (size_t)(stop - bytes) > SSE_LINE_MAX)
            return SSE_TOO_LONG;
        if (!text_add(&stream->line, bytes, (size_t)(stop - bytes)))
            return SSE_NOMEM;
        if (stop == end)
            return 0;
        stream->after_cr = *stop == '\r';
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
    text_release(&stream->id);
    *stream = (struct sse){0};
}
