/* SPDX-License-Identifier: Apache-2.0 */
#include "state/worker.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static void *work(void *arg)
{
    struct worker *worker = arg;
    assert(worker->ended >= 0);
    for (;;) {
        while (sem_wait(&worker->wake) < 0)
            ; /* EINTR: a debugger */
        if (!worker->started)
            return NULL;
        worker->started = false;
        worker->run(worker->arg);
    }
}

/* Signals belong to the loop: the thread must not receive them. */
int worker_start(struct worker *worker, const char *name, void (*run)(void *arg), void *arg,
                 struct error *err)
{
    assert(run && name);
    assert(!worker->has_thread);
    sigset_t all, before;
    *worker = (struct worker){.run = run, .arg = arg};
    worker->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    int number = worker->ended < 0 ? errno : 0;
    if (number == 0) {
        sem_init(&worker->wake, 0, 0);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        number = pthread_create(&worker->thread, NULL, work, worker);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (number != 0)
            close(worker->ended);
    }
    if (number != 0)
        return error_set(err, ERROR_NOMEM, "cannot start the thread \"%s\": %s", name,
                         strerror(number));
    pthread_setname_np(worker->thread, name);
    worker->has_thread = true;
    return 0;
}

void worker_wake(struct worker *worker)
{
    assert(worker->has_thread);
    worker->started = true;
    sem_post(&worker->wake);
}

bool worker_reported(struct worker *worker)
{
    eventfd_t count;
    assert(worker->has_thread);
    return eventfd_read(worker->ended, &count) == 0;
}

void worker_report(struct worker *worker)
{
    assert(worker->ended >= 0);
    eventfd_write(worker->ended, 1);
}

/* What was started is ended first: its own wake-up comes before this one. */
void worker_stop(struct worker *worker)
{
    if (!worker->has_thread)
        return;
    sem_post(&worker->wake);
    pthread_join(worker->thread, NULL);
    sem_destroy(&worker->wake);
    close(worker->ended);
    worker->has_thread = false;
}

int64_t worker_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
