#ifndef MCAST_BROKER_RELOAD_H
#define MCAST_BROKER_RELOAD_H

#include "broker/config.h"
#include "broker/engine.h"
#include "broker/http/http.h"
#include "broker/keyring.h"
#include "broker/namedfiles.h"

#include <stdbool.h>

/* SIGHUP: reads the configuration again and puts it in the place of the one in force, wholly, or
 * changes nothing and says why (F5). The log tells each key with its value before and after, and
 * each file that was read again because it has changed. */

struct reload {
    const char *path;        /* of the configuration */
    int log_level;           /* of the command line, which counts for more; -1: as configured */
    struct config *config;   /* in force; owned */
    struct namedfiles files; /* as they were when it was taken */
    struct engine *engine;
    struct http *http;
    struct keyring *keyring;
};

/* Takes the configuration over. Rooms follow when there are some. */
void reload_init(struct reload *reload, struct config *config, const char *path, int log_level);
void reload_release(struct reload *reload);

/* Looks at the files that the configuration names: at the start, when those that it makes are there
 * and before the others are read. */
void reload_look(struct reload *reload);

/* True when the files' configuration is in force afterwards. Once the loop runs, and not from
 * inside a step. Takes as long as reading the files and asking for users and certificates does. */
bool reload_apply(struct reload *reload);

#endif
