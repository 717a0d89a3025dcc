/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

/* Asking resource managers which of their jobs are active (F20, F22). */

struct cluster;
struct joblist;

/* Of one cluster. */
struct jobpoll {
    bool called; /* else nothing below counts */
    bool again;  /* to be asked anew as soon as the one under way is answered */
    bool stale;  /* the one under way is from before a reload, perhaps of the wrong command */
    uint64_t id; /* of the one under way, until what it named was compared; 0: none */
    int64_t asked_ms;
    int64_t due_ms;     /* none under way: when to ask; INT64_MAX: never */
    int64_t whole_ms;   /* last whole one since the start; 0: none */
    int64_t seen_ms;    /* when that one was asked; 0: none */
    uint64_t failures;  /* since the start */
    int64_t failing_ms; /* since when error is not "" */
    char error[ERROR_TEXT_SIZE];
};

void jobpoll_start(struct core *core); /* at the start, and when the link is up again: all */
void jobpoll_soon(struct core *core, struct cluster *cluster); /* one that begins from now on */
void jobpoll_configure(struct core *core);
void jobpoll_tick(struct core *core);
int64_t jobpoll_deadline(const struct core *core);
void jobpoll_done(struct core *core, const struct core_event *event);
void jobpoll_compared(struct core *core, const struct joblist *joblist); /* its last lot */
void jobpoll_dropped(const struct joblist *joblist);
