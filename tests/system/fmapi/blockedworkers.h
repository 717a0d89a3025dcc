/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/fmapi/apiclient.h"

#include <uv.h>

/* libuv's worker threads, all kept busy: files are not read, as with a network's disk that hangs.
 */

enum { BLOCKEDWORKERS_WORKERS = 4 };

struct blockedworkers {
    uv_work_t works[BLOCKEDWORKERS_WORKERS];
    uv_sem_t end;
    unsigned left;
};

/* For main, before any thread is there: as many threads as a jam needs. */
void blockedworkers_prepare(void);

void blockedworkers_begin(struct blockedworkers *blockedworkers, struct apiclient *apiclient);
void blockedworkers_end(struct blockedworkers *blockedworkers, struct apiclient *apiclient);
