/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static _Thread_local struct watch *watching;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char *own_name; /* once held, it is known here: a thread may be late */
static bool holding;
static unsigned held;

void watch_begin(struct watch *watch)
{
    watching = watch;
}

void watch_end(void)
{
    watching = NULL;
}

static void note(const char *name, bool waits)
{
    struct watch *watch = watching;
    if (!watch)
        return;
    watch->seen++;
    if (waits && watch->waits++ == 0)
        snprintf(watch->first, sizeof watch->first, "%s", name);
}

/* Of what is read and written: files on disk and /dev/urandom wait for nobody. */
static bool waits(int fd)
{
    struct stat status;
    if (fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode)))
        return false;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

/* POSIX lets an object pointer hold a function's address; C wants it copied. */
static void find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

#define REAL(type, name, parameters)                                                               \
    static type(*real) parameters;                                                                 \
    if (!real)                                                                                     \
    find(&real, name)

EXPORTED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    REAL(int, "poll", (struct pollfd *, nfds_t, int));
    note("poll", timeout != 0);
    return real(fds, count, timeout);
}

EXPORTED int select(int count, fd_set *in, fd_set *out, fd_set *odd, struct timeval *timeout)
{
    REAL(int, "select", (int, fd_set *, fd_set *, fd_set *, struct timeval *));
    note("select", !timeout || timeout->tv_sec != 0 || timeout->tv_usec != 0);
    return real(count, in, out, odd, timeout);
}

EXPORTED int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    REAL(int, "epoll_wait", (int, struct epoll_event *, int, int));
    note("epoll_wait", timeout != 0);
    return real(fd, events, count, timeout);
}

EXPORTED int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    REAL(int, "connect", (int, const struct sockaddr *, socklen_t));
    note("connect", waits(fd));
    return real(fd, address, length);
}

EXPORTED ssize_t read(int fd, void *bytes, size_t size)
{
    REAL(ssize_t, "read", (int, void *, size_t));
    if (watching)
        note("read", waits(fd));
    return real(fd, bytes, size);
}

EXPORTED ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL(ssize_t, "write", (int, const void *, size_t));
    if (watching)
        note("write", waits(fd));
    return real(fd, bytes, size);
}

EXPORTED ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    REAL(ssize_t, "recv", (int, void *, size_t, int));
    note("recv", !(flags & MSG_DONTWAIT) && waits(fd));
    return real(fd, bytes, size, flags);
}

EXPORTED ssize_t recvfrom(int fd, void *restrict bytes, size_t size, int flags,
                          struct sockaddr *restrict address, socklen_t *restrict length)
{
    REAL(ssize_t, "recvfrom", (int, void *, size_t, int, struct sockaddr *, socklen_t *));
    note("recvfrom", !(flags & MSG_DONTWAIT) && waits(fd));
    return real(fd, bytes, size, flags, address, length);
}

EXPORTED ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    REAL(ssize_t, "send", (int, const void *, size_t, int));
    note("send", !(flags & MSG_DONTWAIT) && waits(fd));
    return real(fd, bytes, size, flags);
}

EXPORTED ssize_t sendto(int fd, const void *bytes, size_t size, int flags,
                        const struct sockaddr *address, socklen_t length)
{
    REAL(ssize_t, "sendto", (int, const void *, size_t, int, const struct sockaddr *, socklen_t));
    note("sendto", !(flags & MSG_DONTWAIT) && waits(fd));
    return real(fd, bytes, size, flags, address, length);
}

EXPORTED int pthread_join(pthread_t thread, void **out)
{
    REAL(int, "pthread_join", (pthread_t, void **));
    note("pthread_join", true);
    return real(thread, out);
}

/* A name is looked up by asking somebody; an address is not. */
EXPORTED int getaddrinfo(const char *restrict node, const char *restrict service,
                         const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    REAL(int, "getaddrinfo",
         (const char *, const char *, const struct addrinfo *, struct addrinfo **));
    bool asks = !hints || !(hints->ai_flags & AI_NUMERICHOST);
    note("getaddrinfo", asks);
    pthread_mutex_lock(&lock);
    bool mine = node && own_name && strcmp(node, own_name) == 0;
    if (mine) {
        held++;
        while (holding)
            pthread_cond_wait(&changed, &lock);
        held--;
    }
    pthread_mutex_unlock(&lock);
    return real(mine ? "127.0.0.1" : node, service, hints, out);
}

void watch_hold(const char *name)
{
    pthread_mutex_lock(&lock);
    own_name = name;
    holding = true;
    pthread_mutex_unlock(&lock);
}

void watch_let_go(void)
{
    pthread_mutex_lock(&lock);
    holding = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

unsigned watch_held(void)
{
    pthread_mutex_lock(&lock);
    unsigned count = held;
    pthread_mutex_unlock(&lock);
    return count;
}
