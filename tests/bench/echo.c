/* SPDX-License-Identifier: Apache-2.0 */
/* bench-echo SOCKET: parses a JSON body and answers it, on the very loop and HTTP server that the
 * broker has. What a request costs before anything is decided or saved. */
#include "broker/http/listen/server.h"
#include "broker/http/listen/socket.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 4096 };

struct exchange {
    size_t length;
    bool begun;
    char body[BODY_MAX];
};

static void *begin(void *arg, const char *uri, struct MHD_Connection *connection)
{
    return calloc(1, sizeof(struct exchange));
}

static void complete(void *arg, struct MHD_Connection *connection, void **context,
                     enum MHD_RequestTerminationCode code)
{
    free(*context);
    *context = NULL;
}

static void ignore_connection(void *arg, struct httpworker *worker,
                              struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
}

static enum MHD_Result answer(struct MHD_Connection *connection, const struct exchange *exchange)
{
    json_t *body = json_loadb(exchange->body, exchange->length, 0, NULL);
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    const unsigned status = text ? 200 : 400;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        text ? strlen(text) : 0, text, text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

    json_decref(body);
    MHD_add_response_header(response, "Content-Type", "application/json");
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result access_request(void *arg, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data,
                                      size_t *size, void **context)
{
    struct exchange *exchange = *context;

    if (!exchange)
        return MHD_NO;
    if (!exchange->begun) {
        exchange->begun = true;
        return MHD_YES;
    }
    if (*size == 0)
        return answer(connection, exchange);
    if (exchange->length + *size > BODY_MAX)
        return MHD_NO;
    memcpy(exchange->body + exchange->length, data, *size);
    exchange->length += *size;
    *size = 0;
    return MHD_YES;
}

static void stop(uv_signal_t *signal, int number)
{
    uv_stop(signal->loop);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    uint64_t spent_ns = 0;
    struct turn turn;
    const struct server_hooks hooks = {.access = access_request,
                                       .target = begin,
                                       .completed = complete,
                                       .connection = ignore_connection,
                                       .turn = &turn,
                                       .spent_ns = &spent_ns};
    uv_signal_t terminated;
    struct error err = {0};
    int fd;

    if (argc != 2) {
        fputs("usage: bench-echo SOCKET\n", stderr);
        return 2;
    }
    turn_init(&turn, loop);
    if ((fd = socket_listen_unix(argv[1], 0600, NULL, &err)) < 0 ||
        !server_create(loop, fd, false, &hooks, &err)) {
        fprintf(stderr, "bench-echo: %s\n", err.text);
        return 1;
    }
    uv_signal_init(loop, &terminated);
    uv_signal_start(&terminated, stop, SIGTERM);
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}
