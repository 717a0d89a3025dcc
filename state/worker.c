/* SPDX-License-Identifier: Apache-2.0 */
#include "state/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Owner and thread take turns, so the fields need no lock: what either wrote before it posted
 * `wake` or the eventfd, the other sees after. */
struct worker {
    bool (*run)(void *arg);
    void *arg;
    int fd; /* counts the runs that have returned */
    pthread_t thread;
    sem_t wake;
    bool started;            /* set by the owner, cleared by the thread; unset at a wake-up: exit */
    bool goes_on[2];         /* what those returned that are not yet collected */
    unsigned ran, collected; /* the thread's own, and the owner's */
    bool busy;               /* the owner's own: started, and its last run not yet collected */
};

static void *run_when_started(void *arg)
{
    assert(arg);
    struct worker *worker = arg;
    for (;;) {
        while (sem_wait(&worker->wake) < 0)
            ; /* EINTR: a debugger */
        if (!worker->started)
            return NULL;
        worker->started = false;
        for (bool goes_on = true; goes_on;) {
            goes_on = worker->run(worker->arg);
            worker->goes_on[worker->ran++ % 2] = goes_on;
            eventfd_write(worker->fd, 1);
        }
    }
}

/* Signals belong to the loop: this thread must not receive them. */
static int start_thread_without_signals(struct worker *worker)
{
    assert(worker->run);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&worker->thread, NULL, run_when_started, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0)
        pthread_setname_np(worker->thread, "state");
    return code;
}

static void worker_free(struct worker *worker)
{
    assert(worker);
    sem_destroy(&worker->wake);
    if (worker->fd >= 0)
        close(worker->fd);
    free(worker);
}

struct worker *worker_create(bool (*run)(void *arg), void *arg)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    assert(run);
    worker->run = run;
    worker->arg = arg;
    worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    sem_init(&worker->wake, 0, 0);
    int code = worker->fd < 0 ? errno : start_thread_without_signals(worker);
    if (code == 0)
        return worker;
    worker_free(worker);
    errno = code;
    return NULL;
}

void worker_start(struct worker *worker)
{
    assert(!worker->busy);
    assert(!worker->started);
    worker->busy = true;
    worker->started = true;
    sem_post(&worker->wake);
}

int worker_fd(const struct worker *worker)
{
    assert(worker->fd >= 0);
    return worker->fd;
}

bool worker_collect(struct worker *worker)
{
    eventfd_t count;
    if (eventfd_read(worker->fd, &count) < 0)
        return false;
    assert(worker->busy);
    worker->busy = worker->goes_on[worker->collected++ % 2];
    return true;
}

void worker_destroy(struct worker *worker)
{
    if (!worker)
        return;
    /* A started run ends first: its own wake-up comes before this one. */
    sem_post(&worker->wake);
    pthread_join(worker->thread, NULL);
    worker_free(worker);
}
