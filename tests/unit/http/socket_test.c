/* SPDX-License-Identifier: Apache-2.0 */

#include "broker/http/listen/socket.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64], path[96];

static int folder_make(void **state)
{
    strcpy(folder, "/tmp/http_socket_XXXXXX");
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

static int try_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = connect(fd, (struct sockaddr *)&address, sizeof address);
    close(fd);
    return rc;
}

UNIT_WITH(unix_socket__has_its_mode_and_answers, folder_make, folder_remove)
{
    struct error err;
    struct stat made;
    int fd = socket_listen_unix(path, 0620, NULL, &err);
    assert_true(fd >= 0);
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_mode & 0777, 0620);
    assert_int_equal(try_connect(), 0);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);

    socket_unlink_unix(path, made.st_dev, made.st_ino + 1); /* somebody else's by now */
    assert_int_equal(access(path, F_OK), 0);
    socket_unlink_unix(path, made.st_dev, made.st_ino);
    assert_int_equal(access(path, F_OK), -1);
    close(fd);
}

UNIT_WITH(unix_socket__replaces_a_dead_one_only, folder_make, folder_remove)
{
    struct error err;
    int fd = socket_listen_unix(path, 0600, NULL, &err);
    assert_true(fd >= 0);
    assert_int_equal(socket_listen_unix(path, 0600, NULL, &err), ERROR_IO);
    assert_non_null(strstr(err.text, "another process"));
    assert_int_equal(try_connect(), 0);
    close(fd); /* as a crash leaves it: the file stays */
    assert_int_equal(try_connect(), -1);
    fd = socket_listen_unix(path, 0600, NULL, &err);
    assert_true(fd >= 0);
    close(fd);
}

UNIT_WITH(unix_socket__leaves_other_files_alone, folder_make, folder_remove)
{
    struct error err;
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(socket_listen_unix(path, 0600, NULL, &err), ERROR_IO);
    assert_non_null(strstr(err.text, "no socket"));
    assert_int_equal(access(path, F_OK), 0);
}

UNIT_WITH(unix_socket__tells_what_is_wrong, folder_make, folder_remove)
{
    struct error err;
    char elsewhere[128], too_long[200];
    snprintf(elsewhere, sizeof elsewhere, "%s/no/s", folder);
    assert_int_equal(socket_listen_unix(elsewhere, 0600, NULL, &err), ERROR_IO);
    assert_non_null(strstr(err.text, elsewhere));
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    assert_int_equal(socket_listen_unix(too_long, 0600, NULL, &err), ERROR_INVALID);
    assert_int_equal(socket_listen_unix(path, 0600, "no-such-group-here", &err), ERROR_INVALID);
    assert_non_null(strstr(err.text, "no-such-group-here"));
    assert_int_equal(access(path, F_OK), -1);
}

UNIT(tcp__listens_at_the_address)
{
    static const char *const good[] = {"127.0.0.1:0", "localhost:0", "127.1.2.3:0", "0.0.0.0:0"};
    struct error err;
    int port;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int fd = socket_listen_tcp(good[i], &port, &err);
        assert_true(fd >= 0);
        assert_in_range(port, 1, 65535);
        close(fd);
    }
}

UNIT_RUN(NULL, NULL)
