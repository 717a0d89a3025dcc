/* SPDX-License-Identifier: Apache-2.0 */
/* How many connections a server holds, also refused ones (B8). */

#include "broker/http/listen/server.h"
#include "broker/http/listen/socket.h"
#include "tests/unit/unit.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LIMIT = 32, CLIENTS = 400, TURNS = 40, USER = 5588 };

static char folder[64], path[96];
static uv_loop_t loop;
static struct turn turn;
static uint64_t spent_ns;
static unsigned held, most;
static bool closed;

static int folder_make(void **state)
{
    strcpy(folder, "/tmp/http_server_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/s", folder);
    return 0;
}

static int folder_remove(void **state)
{
    unlink(path);
    return rmdir(folder);
}

static enum MHD_Result refuse_request(void *arg, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data,
                                      size_t *size, void **context)
{
    return MHD_NO;
}

/* As one whose user has no connections left: it is closed by libmicrohttpd when its worker has its
 * turn. */
static void refuse_connection(void *arg, struct httpworker *worker,
                              struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        held--;
        return;
    }
    shutdown(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
             SHUT_RDWR);
    if (++held > most)
        most = held;
}

static bool below_limit(void *arg, unsigned connections)
{
    return connections < LIMIT;
}

static uint64_t same_user(void *arg, int fd)
{
    return USER;
}

/* Another listener's connections take all of each turn. */
static void be_busy(uv_check_t *check)
{
    spent_ns = UINT64_MAX / 2;
}

static void on_server_closed(void *arg)
{
    closed = true;
}

static int connect_client(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

UNIT_WITH(refused_connections__count_until_they_are_closed, folder_make, folder_remove)
{
    const struct server_hooks hooks = {.access = refuse_request,
                                       .connection = refuse_connection,
                                       .may_accept = below_limit,
                                       .user = same_user,
                                       .turn = &turn,
                                       .spent_ns = &spent_ns};
    struct error err = {0};
    uv_check_t busy;
    int clients[CLIENTS];
    uv_loop_init(&loop);
    turn_init(&turn, &loop);
    int fd = socket_listen_unix(path, 0600, NULL, &err);
    assert_true(fd >= 0);
    struct server *server = server_create(&loop, fd, false, &hooks, &err);
    assert_non_null(server);
    uv_check_init(&loop, &busy);
    uv_check_start(&busy, be_busy); /* libuv calls the last one first */
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connect_client();
    for (int i = 0; i < TURNS; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    assert_in_range(most, 1, LIMIT);

    server_destroy(server, on_server_closed, NULL);
    uv_close((uv_handle_t *)&busy, NULL);
    while (uv_run(&loop, UV_RUN_NOWAIT))
        continue;
    assert_true(closed);
    assert_int_equal(held, 0);
    assert_int_equal(uv_loop_close(&loop), 0);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
}

UNIT_RUN(NULL, NULL)
