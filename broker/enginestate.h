/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What an engine consists of: for engine.c, which drives it, and enginefacts.c, which looks. */

#include "broker/engine.h"
#include "broker/jobs/listcommand.h"
#include "broker/journal.h"
#include "broker/loading.h"

struct engine {
    struct engine_options options; /* config: in force; store: NULL when it is closed */
    int64_t clock_offset_ns;       /* clock.h */
    struct core *core;
    struct journal *journal;            /* NULL before engine_start and after the end */
    struct fabric *fabric;              /* as the journal */
    struct inventory_reader *inventory; /* as the journal */
    struct inventory_reports reports;   /* of the core, for it */
    struct listcommand *lists;          /* NULL once it stops */
    struct engine_listener listener;
    enum broker_role role;

    uint64_t steps;
    uint64_t tickets;   /* accepted and not yet answered */
    uint64_t event_seq; /* durable, not yet given to the listener; 0: none */
    bool stepping;      /* between core_step and the last of its effects */

    struct loading loading;

    uv_timer_t deadline;
    int64_t deadline_ms; /* what the timer is set to; INT64_MAX: nothing */
    uv_prepare_t prepare;
    struct turn turn; /* of the loop */
    int64_t started_ms;

    bool stopping; /* engine_stop was called: no new requests */
    bool draining; /* nothing accepted is unanswered: no more steps, the rest is only saved */
    bool closing;
    unsigned open_parts; /* handles and edges that have yet to close */
    void (*stopped)(void *arg);
    void *stopped_arg;
};
