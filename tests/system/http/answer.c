/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/answer.h"

#include "tests/system/rig/secretscan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool answer_header(const struct answer *answer, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    for (const char *line = strstr(answer->head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *value = line + length + 1 + strspn(line + length + 1, " ");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\r"), value);
        return true;
    }
    return false;
}

/* Bytes that the chunks at text take, as answer_take; their contents go to body. */
static long chunks_take(const char *text, size_t length, char *body, size_t *used)
{
    const char *at = text, *end = text + length;
    *used = 0;
    for (;;) {
        const char *line = memmem(at, (size_t)(end - at), "\r\n", 2);
        if (!line)
            return 0;
        size_t size = strtoul(at, NULL, 16);
        if ((size_t)(end - line) < size + 4)
            return 0;
        memcpy(body + *used, line + 2, size);
        *used += size;
        at = line + 2 + size + 2;
        if (size == 0)
            return at - text;
    }
}

long answer_take(const char *text, size_t length, bool bodiless, struct answer *answer)
{
    char value[64];
    const char *end = memmem(text, length, "\r\n\r\n", 4);
    if (!end)
        return 0;
    size_t head = (size_t)(end - text) + 4, rest = length - head;
    *answer = (struct answer){.head = strndup(text, head), .body = calloc(1, rest + 1)};
    long taken = -1;
    if (sscanf(answer->head, "HTTP/1.1 %d ", &answer->status) != 1)
        taken = -1;
    else if (bodiless || answer->status == 100)
        taken = (long)head;
    else if (answer_header(answer, "Content-Length", value, sizeof value)) {
        answer->length = strtoul(value, NULL, 10);
        taken = answer->length <= rest ? (long)(head + answer->length) : 0;
        if (taken > 0)
            memcpy(answer->body, text + head, answer->length);
    } else if (answer_header(answer, "Transfer-Encoding", value, sizeof value)) {
        taken = chunks_take(text + head, rest, answer->body, &answer->length);
        if (taken > 0)
            taken += (long)head;
    }
    if (taken > 0 && answer->status >= 400) /* a refusal may quote what was sent, but no secret */
        secretscan_fail_if_text(text, (size_t)taken, "a refusal");
    if (taken <= 0)
        answer_release(answer);
    else
        answer->json = json_loadb(answer->body, answer->length, 0, NULL);
    return taken;
}

void answer_release(struct answer *answer)
{
    free(answer->head);
    free(answer->body);
    json_decref(answer->json);
    *answer = (struct answer){0};
}

static json_t *find_member(const struct answer *answer, const char *path)
{
    json_t *at = answer->json;
    while (*path) {
        char name[64];
        const size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        at = json_object_get(at, name);
        path += length + (path[length] == '.');
    }
    return at;
}

const char *answer_text(const struct answer *answer, const char *path)
{
    const char *text = json_string_value(find_member(answer, path));
    return text ? text : "";
}

json_int_t answer_number(const struct answer *answer, const char *path)
{
    return json_integer_value(find_member(answer, path));
}
