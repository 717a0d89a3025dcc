/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/kept.h"

#include "broker/http/listen/socket.h"
#include "broker/http/request/target.h"
#include "broker/log/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_FD = 3 }; /* SD_LISTEN_FDS_START */

static uint64_t number_in(const char *name)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    return text && target_number(text, INT32_MAX, &number) ? number : 0;
}

void kept_receive(struct kept *kept, const struct notify *notify)
{
    const uint64_t count =
        number_in("LISTEN_PID") == (uint64_t)getpid() ? number_in("LISTEN_FDS") : 0;
    const char *names = getenv("LISTEN_FDNAMES");
    *kept = (struct kept){.notify = notify};
    for (int i = 0; i < KEPT_MAX; i++) {
        const size_t length = names ? strcspn(names, ":") : 0;
        const int fd = FIRST_FD + i;
        kept->fds[i] = (uint64_t)i < count && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
        if (length < sizeof kept->names[i] && names)
            memcpy(kept->names[i], names, length);
        names = names && names[length] == ':' ? names + length + 1 : NULL;
    }
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
}

/* A name in the store must not have a colon. */
static void name_format(char name[static 128], const char *key, const char *address)
{
    (void)snprintf(name, 128, "%s=%s", key, address);
    for (char *at = name; (at = strchr(at, ':'));)
        *at = '_';
}

static int take(struct kept *kept, const char *name, const char *address)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        const int fd = kept->fds[i];
        if (fd < 0 || strcmp(kept->names[i], name) != 0 || !socket_listens_tcp(fd, address))
            continue;
        kept->fds[i] = -1;
        return fd;
    }
    return -1;
}

int kept_listen(struct kept *kept, const char *key, const char *address, int *port,
                struct error *err)
{
    char name[128];
    if (!kept)
        return socket_listen_tcp(address, port, err);
    name_format(name, key, address);
    int fd = take(kept, name, address);
    if (fd >= 0) {
        *port = socket_port(fd);
        log_line(LOG_INFO, "listening at %s with the socket that the service manager has kept",
                 address);
        return fd;
    }
    fd = socket_listen_tcp(address, port, err);
    if (fd >= 0)
        notify_store(kept->notify, name, fd);
    return fd;
}

void kept_drop(struct kept *kept, const char *key, const char *address)
{
    char name[128];
    const size_t length = strlen(key);
    name_format(name, key, address);
    for (int i = 0; i < KEPT_MAX; i++) {
        const int fd = kept->fds[i];
        const char *its = kept->names[i];
        if (fd < 0 || strncmp(its, key, length) != 0 || its[length] != '=' ||
            (strcmp(its, name) == 0 && socket_listens_tcp(fd, address)))
            continue;
        (void)shutdown(fd, SHUT_RDWR); /* the service manager's copy, too */
        (void)close(fd);
        kept->fds[i] = -1;
        (void)notify_send(kept->notify, true, "FDSTOREREMOVE=1\nFDNAME=%s", its);
    }
}
