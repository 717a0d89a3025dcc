/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/socket.h"

#include "broker/http/request/target.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* What comes while one turn of the loop lasts, and a busy machine has no processor for it. The
 * kernel bounds it (net.core.somaxconn, 4096), and puts off who does not fit for a second or more.
 */
enum { INET_BACKLOG = 4096 };

static int stream_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Removes an old socket file, unless a process listens on it, which fd is used to find out. */
static int clear_path(int fd, const struct sockaddr_un *address, struct error *err)
{
    struct stat found;
    if (lstat(address->sun_path, &found) < 0)
        return 0; /* bind reports other faults of the path */
    if (!S_ISSOCK(found.st_mode))
        return error_set(err, ERROR_IO,
                         "%s exists and is no socket; remove it or choose another "
                         "path",
                         address->sun_path);
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
        errno != ECONNREFUSED)
        return error_set(err, ERROR_IO, "another process listens at %s; stop it first",
                         address->sun_path);
    if (unlink(address->sun_path) < 0)
        return error_set(err, ERROR_IO, "cannot remove the old socket %s: %s", address->sun_path,
                         strerror(errno));
    return 0;
}

static int group_resolve(const char *group, gid_t *gid, struct error *err)
{
    uint64_t number;
    if (target_number(group, (gid_t)-2, &number)) {
        *gid = (gid_t)number;
        return 0;
    }
    const struct group *found = getgrnam(group);
    if (!found)
        return error_set(err, ERROR_INVALID, "socket_group: there is no group '%s' on this host",
                         group);
    *gid = found->gr_gid;
    return 0;
}

static int unix_open(int fd, const struct sockaddr_un *address, unsigned mode, const char *group,
                     struct error *err)
{
    const char *path = address->sun_path;
    gid_t gid = (gid_t)-1;
    if (group && group_resolve(group, &gid, err) < 0)
        return ERROR_INVALID;
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) < 0)
        return error_set(err, ERROR_IO,
                         "cannot make the socket %s: %s; its folder must be there and belong to "
                         "the user of mcastd",
                         path, strerror(errno));
    /* Until listen, whatever the umask left open, connecting is refused. */
    if ((group && chown(path, (uid_t)-1, gid) < 0) || chmod(path, (mode_t)mode) < 0)
        error_set(err, ERROR_IO, "cannot set mode and group of %s: %s", path, strerror(errno));
    else if (listen(fd, SOMAXCONN) < 0)
        error_set(err, ERROR_IO, "cannot listen at %s: %s", path, strerror(errno));
    else
        return 0;
    unlink(path);
    return ERROR_IO;
}

int socket_listen_unix(const char *path, unsigned mode, const char *group, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return error_set(err, ERROR_INVALID,
                         "the path of the socket is longer than the %zu bytes that the system "
                         "allows: %s",
                         sizeof address.sun_path - 1, path);
    strcpy(address.sun_path, path);
    int fd = stream_socket(AF_UNIX);
    if (fd < 0)
        return error_set(err, ERROR_IO, "cannot make a socket: %s", strerror(errno));
    int rc = clear_path(fd, &address, err);
    if (rc == 0)
        rc = unix_open(fd, &address, mode, group, err);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

void socket_unlink_unix(const char *path, dev_t device, ino_t inode)
{
    struct stat found;
    if (lstat(path, &found) == 0 && found.st_dev == device && found.st_ino == inode)
        unlink(path);
}

union inet {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* text: "HOST:PORT", which the check of the configuration has read. */
static union inet inet_of(const char *text)
{
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    const in_port_t port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    union inet inet;
    int known;
    if (text[0] == '[') {
        snprintf(host, sizeof host, "%.*s", (int)(colon - text) - 2, text + 1);
        inet.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
        known = inet_pton(AF_INET6, host, &inet.v6.sin6_addr);
    } else {
        snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
        inet.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
        known =
            inet_pton(AF_INET, !strcmp(host, "localhost") ? "127.0.0.1" : host, &inet.v4.sin_addr);
    }
    assert(known == 1);
    (void)known;
    return inet;
}

static int port_of(const union inet *inet)
{
    return ntohs(inet->any.sa_family == AF_INET6 ? inet->v6.sin6_port : inet->v4.sin_port);
}

int socket_port(int fd)
{
    union inet inet = {.any.sa_family = AF_UNSPEC};
    socklen_t length = sizeof inet;
    return getsockname(fd, &inet.any, &length) == 0 ? port_of(&inet) : 0;
}

bool socket_listens_tcp(int fd, const char *address)
{
    union inet is = {.any.sa_family = AF_UNSPEC};
    socklen_t length = sizeof is, size = sizeof(int);
    int listens = 0;
    if (address[0] == '\0' || getsockname(fd, &is.any, &length) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens)
        return false;
    const union inet wanted = inet_of(address);
    if (is.any.sa_family != wanted.any.sa_family || port_of(&is) != port_of(&wanted))
        return false;
    return is.any.sa_family == AF_INET6
               ? memcmp(&is.v6.sin6_addr, &wanted.v6.sin6_addr, sizeof is.v6.sin6_addr) == 0
               : is.v4.sin_addr.s_addr == wanted.v4.sin_addr.s_addr;
}

int socket_listen_tcp(const char *address, int *port, struct error *err)
{
    union inet inet = inet_of(address);
    socklen_t length = sizeof inet;
    int fd = stream_socket(inet.any.sa_family), on = 1;
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, &inet.any, length) == 0 && listen(fd, INET_BACKLOG) == 0 &&
        getsockname(fd, &inet.any, &length) == 0) {
        *port = port_of(&inet);
        return fd;
    }
    int cause = errno;
    int rc =
        error_set(err, ERROR_IO, "cannot listen at %s: %s%s", address, strerror(cause),
                  cause == EADDRINUSE      ? "; `ss -ltnp` shows who does: stop that, or set "
                                             "another port"
                  : cause == EADDRNOTAVAIL ? "; it is no address of this host: see `ip address`"
                  : cause == EACCES        ? "; ports below 1024 are root's: take a higher one"
                                           : "");
    if (fd >= 0)
        close(fd);
    return rc;
}
