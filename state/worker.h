/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* A thread that works for its owner and tells what it has ended by an eventfd. Owner and thread
 * take turns, so what they share needs no lock: what either wrote before worker_wake or
 * worker_report, the other sees after. */
struct worker {
    bool started; /* set by the owner, cleared by the thread; unset at a wake-up: exit */
    bool has_thread;
    int ended; /* eventfd: counts reports; owned, readable when there is one */
    sem_t wake;
    pthread_t thread;
    void (*run)(void *arg);
    void *arg;
};

/* For a worker that is all zero. run is called once for each worker_wake. 0, or ERROR_NOMEM. */
int worker_start(struct worker *worker, const char *name, void (*run)(void *arg), void *arg,
                 struct error *err);

/* The owner's. What is running is ended first; of a worker that was not started nothing is. */
void worker_wake(struct worker *worker);
bool worker_reported(struct worker *worker); /* takes one report; false: there is none */
void worker_stop(struct worker *worker);

/* The thread's. */
void worker_report(struct worker *worker);

/* Of CLOCK_BOOTTIME. */
int64_t worker_now_us(void);
