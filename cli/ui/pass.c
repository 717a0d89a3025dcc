/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ui/pass.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pass {
    struct call call; /* with a handle of its own */
    char *target;
    const char *type;
    int to; /* the end of the pipe that is written */
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool begun;     /* bytes have come */
    bool ended;     /* and rc and call.error are set */
    unsigned users; /* who waits, and the thread; the last one frees it */
    int rc;
};

static void leave(struct pass *pass)
{
    pthread_mutex_lock(&pass->lock);
    const bool last = --pass->users == 0;
    pthread_mutex_unlock(&pass->lock);
    if (!last)
        return;
    pthread_cond_destroy(&pass->news);
    pthread_mutex_destroy(&pass->lock);
    free(pass->target);
    free(pass);
}

static void tell(struct pass *pass, bool *what)
{
    pthread_mutex_lock(&pass->lock);
    *what = true;
    pthread_cond_signal(&pass->news);
    pthread_mutex_unlock(&pass->lock);
}

/* Ends it when the reader has gone. */
static int write_piece(const char *bytes, size_t length, void *data)
{
    struct pass *pass = data;
    if (!pass->begun)
        tell(pass, &pass->begun);
    while (length > 0) {
        const ssize_t written = write(pass->to, bytes, length);
        if (written < 0 && errno != EINTR)
            return 1;
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static int drop_piece(const char *bytes, size_t length, void *data)
{
    (void)bytes, (void)length, (void)data;
    return 0;
}

/* Of several brokers the first answers what any of them can, and a standby tells of itself alone.
 * After a call that only the leader answers, the handle asks that one. */
static void find_leader(struct call *call)
{
    const char *urls = call->url ? call->url : getenv("MCAST_URL");
    struct mcast_error ignored;
    if (urls && strpbrk(urls, ", \t\n"))
        (void)mcast_get(call->handle, "/v1/jobs?limit=1", "application/json", drop_piece, NULL,
                        &ignored);
}

static void *run(void *arg)
{
    struct pass *pass = arg;
    struct call *call = &pass->call;
    pass->rc = command_open(call);
    if (pass->rc == 0) {
        find_leader(call);
        pass->rc =
            mcast_get(call->handle, pass->target, pass->type, write_piece, pass, &call->error);
    }
    mcast_close(call->handle);
    close(pass->to);
    tell(pass, &pass->ended);
    leave(pass);
    return NULL;
}

static int fail(struct mcast_error *error, const char *what)
{
    *error = (struct mcast_error){.code = MCAST_NOMEM, .word = "no-memory"};
    snprintf(error->text, sizeof error->text, "mcastctl ui cannot make %s; is a limit reached?",
             what);
    return -1;
}

int pass_begin(const struct call *call, const char *target, const char *type,
               struct mcast_error *error)
{
    int ends[2];
    pthread_t thread;
    struct pass *pass = memory_zeroed(sizeof *pass);
    *pass = (struct pass){.call = *call, .target = memory_text(target), .type = type, .users = 1};
    pass->call.handle = NULL;
    pthread_mutex_init(&pass->lock, NULL);
    pthread_cond_init(&pass->news, NULL);
    if (pipe2(ends, O_CLOEXEC) < 0) {
        leave(pass);
        return fail(error, "a pipe");
    }
    pass->to = ends[1];
    pass->users++;
    if (pthread_create(&thread, NULL, run, pass) != 0) {
        close(ends[0]);
        close(ends[1]);
        pass->users--;
        leave(pass);
        return fail(error, "a thread");
    }
    pthread_detach(thread);
    pthread_mutex_lock(&pass->lock);
    while (!pass->begun && !pass->ended)
        pthread_cond_wait(&pass->news, &pass->lock);
    const bool good = pass->begun || pass->rc == 0; /* or it is empty */
    if (!good)
        *error = pass->call.error;
    pthread_mutex_unlock(&pass->lock);
    leave(pass);
    if (good)
        return ends[0];
    close(ends[0]);
    return -1;
}
