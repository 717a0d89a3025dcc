/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/engine.h"
#include "broker/http/http.h"
#include "broker/keyring.h"
#include "state/etcd/etcd.h"

#include <stdbool.h>
#include <uv.h>

/* SIGHUP: reads the configuration again and puts it in the place of the one in force, wholly, or
 * changes nothing and logs why (F5). The log has each key with its value before and after, and each
 * file that was read again because it has changed. Requests meanwhile get answers by what is in
 * force: files are read in a thread. */

struct reading;

struct reload {
    const char *path;      /* of the configuration */
    int log_level;         /* of the command line, which counts for more; -1: as configured */
    struct config *config; /* in force; owned */
    uv_loop_t *loop;
    struct engine *engine;
    struct http *http;
    struct keyring *keyring;
    struct etcd *etcd;                      /* NULL: this broker is alone */
    void (*ended)(void *arg, bool applied); /* true: what the files say is in force now */
    void *arg;
    char refusal[ERROR_TEXT_SIZE]; /* why the last one was refused */
    struct reading *reading;       /* in progress; or NULL */
    bool again;                    /* one more was requested meanwhile */
    /* To be set when the broker stops: nothing is changed any more and ended not called. The loop
     * still waits for the thread. */
    bool stopped;
};

/* Takes the configuration over. loop to arg are to be set before a reload. */
void reload_init(struct reload *reload, struct config *config, const char *path, int log_level);
void reload_release(struct reload *reload);

/* Begins one; ended is called from the loop. Called while one is in progress, another follows it,
 * for its files may have been read already. */
void reload_begin(struct reload *reload);
