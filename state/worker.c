#include "state/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum stage { STAGE_IDLE, STAGE_STARTED, STAGE_RETURNED };

struct worker {
    void (*run)(void *arg);
    void *arg;
    int fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    enum stage stage; /* this and the next one under the mutex */
    bool ending;
};

static void *serve(void *arg)
{
    struct worker *worker = arg;
    pthread_mutex_lock(&worker->mutex);
    for (;;) {
        while (worker->stage != STAGE_STARTED && !worker->ending)
            pthread_cond_wait(&worker->wake, &worker->mutex);
        /* What was started is finished, also when the end was asked for meanwhile. */
        if (worker->stage != STAGE_STARTED)
            break;
        pthread_mutex_unlock(&worker->mutex);
        worker->run(worker->arg);
        pthread_mutex_lock(&worker->mutex);
        worker->stage = STAGE_RETURNED;
        eventfd_write(worker->fd, 1);
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

/* Signals are the loop's business: a thread that took one would swallow it. */
static int start_thread_without_signals(struct worker *worker)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&worker->thread, NULL, serve, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0)
        pthread_setname_np(worker->thread, "state");
    return code;
}

struct worker *worker_create(void (*run)(void *arg), void *arg)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    *worker = (struct worker){.run = run, .arg = arg};
    worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->fd < 0) {
        free(worker);
        return NULL;
    }
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_cond_init(&worker->wake, NULL);
    int code = start_thread_without_signals(worker);
    if (code) {
        pthread_cond_destroy(&worker->wake);
        pthread_mutex_destroy(&worker->mutex);
        close(worker->fd);
        free(worker);
        errno = code;
        return NULL;
    }
    return worker;
}

void worker_start(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    assert(worker->stage == STAGE_IDLE);
    worker->stage = STAGE_STARTED;
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->mutex);
}

int worker_fd(const struct worker *worker)
{
    return worker->fd;
}

bool worker_collect(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    bool returned = worker->stage == STAGE_RETURNED;
    if (returned) {
        eventfd_t count;
        eventfd_read(worker->fd, &count);
        worker->stage = STAGE_IDLE;
    }
    pthread_mutex_unlock(&worker->mutex);
    return returned;
}

void worker_destroy(struct worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->mutex);
    worker->ending = true;
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    pthread_cond_destroy(&worker->wake);
    pthread_mutex_destroy(&worker->mutex);
    close(worker->fd);
    free(worker);
}
