/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/service/notify.h"

#include "broker/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { WORDS_SIZE = 1024 };

/* "/path" or "@abstract"; anything else (vsock) is for virtual machines. */
static int set_address(struct notify *notify, const char *name, struct error *err)
{
    size_t length = strlen(name);
    notify->address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((name[0] != '/' && name[0] != '@') || length < 2)
        return error_set(err, ERROR_INVALID,
                         "NOTIFY_SOCKET=%s is neither a path nor an abstract socket", name);
    if (length >= sizeof notify->address.sun_path)
        return error_set(err, ERROR_INVALID, "NOTIFY_SOCKET is longer than a socket's name can be");
    memcpy(notify->address.sun_path, name, length);
    if (name[0] == '@')
        notify->address.sun_path[0] = '\0';
    /* The length says where an abstract name ends; it may hold anything. */
    notify->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return 0;
}

/* A positive number, or 0. */
static uint64_t number_in(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' ? number : 0;
}

static uint64_t watchdog_us(void)
{
    /* The variables are inherited; WATCHDOG_PID says whether they are meant for us. */
    if (getenv("WATCHDOG_PID") && number_in("WATCHDOG_PID") != (uint64_t)getpid())
        return 0;
    return number_in("WATCHDOG_USEC");
}

int notify_init(struct notify *notify, struct error *err)
{
    static const struct timeval send_timeout = {.tv_sec = 1};
    const char *name = getenv("NOTIFY_SOCKET");
    *notify = (struct notify){.fd = -1};
    if (!name || *name == '\0')
        return 0;
    int rc = set_address(notify, name, err);
    if (rc < 0)
        return rc;
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify->fd < 0)
        return error_set(err, ERROR_IO, "cannot make a socket to notify %s: %s", name,
                         strerror(errno));
    (void)setsockopt(notify->fd, SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof send_timeout);
    notify->watchdog_us = watchdog_us();
    return 0;
}

void notify_release(struct notify *notify)
{
    if (notify->fd >= 0)
        close(notify->fd);
    notify->fd = -1;
}

bool notify_send(const struct notify *notify, bool wait, const char *format, ...)
{
    char words[WORDS_SIZE];
    va_list args;
    ssize_t sent;
    if (notify->fd < 0)
        return false;
    va_start(args, format);
    int length = vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (length < 0)
        return false;
    size_t size = (size_t)length < sizeof words ? (size_t)length : sizeof words - 1;
    do
        sent = sendto(notify->fd, words, size, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT),
                      (const struct sockaddr *)&notify->address, notify->length);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

void notify_reloading(const struct notify *notify)
{
    (void)notify_send(notify, true, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
                      clock_read_ns(CLOCK_MONOTONIC) / 1000);
}

void notify_store(const struct notify *notify, const char *name, int fd)
{
    char words[WORDS_SIZE];
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof fd)];
    } control = {0};
    const int length = snprintf(words, sizeof words, "FDSTORE=1\nFDNAME=%s", name);
    struct iovec text = {.iov_base = words, .iov_len = (size_t)length};
    const struct msghdr message = {.msg_name = (void *)(uintptr_t)&notify->address,
                                   .msg_namelen = notify->length,
                                   .msg_iov = &text,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
    if (notify->fd < 0 || length < 0 || (size_t)length >= sizeof words)
        return;
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    (void)sendmsg(notify->fd, &message, MSG_NOSIGNAL);
}
