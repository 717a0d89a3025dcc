/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/server.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/plainhttp.h"

#include <stdio.h>

int server_prepare(struct server *server, const char *socket_name)
{
    server->process = NULL;
    if (folder_create(server->folder) < 0) {
        server->folder[0] = '\0';
        return -1;
    }
    folder_path(server->socket, sizeof server->socket, server->folder, socket_name);
    return 0;
}

static bool serves(void *arg)
{
    struct server *server = arg;
    struct plainhttp *http = plainhttp_create("http://bench", server->socket);
    const bool answered =
        !process_alive(server->process) || (http && plainhttp_probe(http, "/") != 0);

    plainhttp_destroy(http);
    return answered;
}

int server_start(struct server *server, const char *const argv[])
{
    char log[128];

    server->process =
        process_start(argv, folder_path(log, sizeof log, server->folder, "server.log"));
    if (!server->process)
        return -1;
    if (await(serves, server, AWAIT_DEADLINE_MS) && process_alive(server->process))
        return 0;
    fprintf(stderr, "%s does not serve\n", argv[0]);
    process_print_log(server->process);
    return -1;
}

void server_stop(struct server *server)
{
    if (server->folder[0] == '\0')
        return;
    process_kill(server->process);
    folder_destroy(server->folder);
    server->folder[0] = '\0';
}
