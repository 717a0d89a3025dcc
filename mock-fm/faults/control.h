/* SPDX-License-Identifier: Apache-2.0 */
/* The paths below /mock by which a test observes and disturbs the fabric manager. No login. */
#pragma once

#include <stdbool.h>

#include "mock-fm/objects/fabric.h"
#include "mock-fm/faults/faults.h"
#include "mock-fm/http/requestlog.h"

struct control {
    struct fabric *fabric;
    struct faults *faults;
    struct requestlog *log;
    struct objects *snapshot; /* owned by the owner of this; NULL until one was taken */
    /* Reads passwords and certificates anew; -1 with a problem, and the old ones stay in force. */
    int (*reload)(void *program, struct problem *problem);
    void *program;
};

/* Is this a control path? */
bool control_owns(const char *path);

/* Always an answer; the caller releases it. request->after is `since` of GET /mock/log. */
void control_answer(struct control *control, const struct request *request, struct answer *answer);
