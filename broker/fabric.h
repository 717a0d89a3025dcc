/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/metrics/histogram.h"
#include "core/core.h"
#include "fmapi/fmapi.h"

#include <stdint.h>
#include <uv.h>

/* The core's edge towards the fabric manager: performs EFFECT_CALL, EFFECT_LOGIN and EFFECT_LIST
 * and steps the core with their results.
 *
 * Each call, login and list ends exactly once, also when it could not be started; never from
 * inside fabric_perform. */

struct fabric;

/* step receives the events (now_ms not filled in); what they point to dies after it. */
typedef void fabric_step_fn(void *arg, struct core_event *event);

/* options NULL: there is no fabric manager until fabric_change names one, and each effect fails.
 * NULL with a sentence. */
struct fabric *fabric_create(uv_loop_t *loop, const struct fmapi_options *options,
                             fabric_step_fn *step, void *arg, struct error *err);

/* Other options from here on, or none (F5). Requests in progress end with those they began with,
 * which are closed then. The URL in use stays in use if it is among the new ones. 0, or a code with
 * a sentence and nothing changed. */
int fabric_change(struct fabric *fabric, const struct fmapi_options *options, struct error *err);

/* EFFECT_CALL, EFFECT_LOGIN or EFFECT_LIST; what is borrowed is copied. A login at a URL that the
 * options no longer have takes the first one: the effect may have waited for the disk, and the core
 * logs in again after a change (core/fabric/link.c). */
void fabric_perform(struct fabric *fabric, const struct effect *effect);

enum { FABRIC_KINDS = FMCALL_LEAVE + 1, FABRIC_OUTCOMES = FM_NOT_ROUTED + 1 };
/* What has ended, by enum fmcall_kind and enum fmcall_outcome; whole lists are kind FMCALL_NONE. */
struct fabric_counters {
    uint64_t calls[FABRIC_KINDS][FABRIC_OUTCOMES];
    struct histogram times[FABRIC_KINDS]; /* of those that could be begun, queueing included */
    struct histogram login_times;         /* of logins that the core asked for */
};
/* Valid until fabric_destroy. */
const struct fabric_counters *fabric_counters(const struct fabric *fabric);
/* Sums over all options since the start. */
void fabric_transport(const struct fabric *fabric, struct fmapi_counters *out);

/* Ends requests in progress without an event for the core: after a restart the core asks again.
 * closed is called from the loop when nothing is left there. */
void fabric_destroy(struct fabric *fabric, void (*closed)(void *arg), void *arg);
