/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pmix/infos.h"

#include <pthread.h>

struct job {
    struct job *next;
    pmix_nspace_t nspace;
    char *launch; /* or NULL */
    struct infos facts, variables;
};

struct mcast_pmix {
    pthread_mutex_t mutex; /* for all below */
    struct job *jobs;
};

/* With the mutex held; NULL: it is not known. */
struct job *host_find(const struct mcast_pmix *pmix, const char *nspace);
