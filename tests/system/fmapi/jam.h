/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_FMAPI_JAM_H
#define MCAST_TESTS_FMAPI_JAM_H

#include "tests/system/fmapi/pilot.h"

#include <uv.h>

/* libuv's worker threads, all kept busy: files are not read, as with a network's disk that hangs.
 */

enum { JAM_WORKERS = 4 };

struct jam {
    uv_work_t works[JAM_WORKERS];
    uv_sem_t end;
    unsigned left;
};

/* For main, before any thread is there: as many threads as a jam needs. */
void jam_prepare(void);

void jam_begin(struct jam *jam, struct pilot *pilot);
void jam_end(struct jam *jam, struct pilot *pilot);

#endif
