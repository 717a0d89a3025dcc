/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/stopwatch.h"

#include "tests/system/rig/wire.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STALLED_MS = 120000 };

struct stopwatch {
    struct wire *wire;
    int status;
    int64_t took_ns;
    char *text;
    size_t size;
};

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct stopwatch *watch = arg;

    watch->status = reply->status;
    watch->took_ns = reply->latency_ns;
    if (reply->length + 1 > watch->size) {
        free(watch->text);
        watch->text = malloc(reply->length + 1);
        watch->size = watch->text ? reply->length + 1 : 0;
    }
    if (watch->text) {
        memcpy(watch->text, reply->body, reply->length);
        watch->text[reply->length] = '\0';
    }
}

struct stopwatch *stopwatch_create(const char *socket)
{
    struct stopwatch *watch = calloc(1, sizeof *watch);
    const struct wire_options options = {
        .socket = socket, .connections = 1, .depth = 1, .done = on_reply, .arg = watch};

    if (watch && (watch->wire = wire_create(&options)))
        return watch;
    free(watch);
    return NULL;
}

void stopwatch_destroy(struct stopwatch *watch)
{
    if (!watch)
        return;
    wire_destroy(watch->wire);
    free(watch->text);
    free(watch);
}

double stopwatch_ask(struct stopwatch *watch, const char *method, const char *path,
                     const char *body, const char **text)
{
    watch->status = -1;
    if (wire_send(watch->wire, 0, method, path, body) < 0) {
        perror(path);
        return -1;
    }
    while (watch->status < 0) {
        if (wire_turn(watch->wire, STALLED_MS) == 0 && watch->status < 0 &&
            wire_under_way(watch->wire) == 0)
            break;
    }
    if (watch->status != 200 || !watch->text) {
        fprintf(stderr, "%s %s was answered %d: %.300s\n", method, path, watch->status,
                watch->text ? watch->text : "");
        return -1;
    }
    if (text)
        *text = watch->text;
    return (double)watch->took_ns / 1e6;
}
