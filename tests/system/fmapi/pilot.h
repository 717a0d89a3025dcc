/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_FMAPI_PILOT_H
#define MCAST_TESTS_FMAPI_PILOT_H

#include "fmapi/fmapi.h"

#include <stdbool.h>

/* fmapi on a loop of its own, and its answers kept for a test to look at. */

struct pilot {
    uv_loop_t loop;
    uv_timer_t deadline; /* a test that waits in vain ends by it */
    uv_prepare_t before_sleep;
    const struct landing *awaited;
    struct fmapi *api; /* NULL once destroyed */
    bool closed;
};

/* Answers of one call, list or login. */
struct landing {
    unsigned times; /* done was called */
    enum fmcall_outcome outcome;
    int status;
    int64_t took_us;
    bool has_token;
    char token[64];
    char words[320];
    char steps[256]; /* what STEPS brought: "0=1,2 /fA=3", "+1" behind it for what was skipped */
    int code;        /* of a login */
};

/* Fill in what matters; the rest gets defaults: 60 s, 4 at once, verified. */
struct fmapi_options pilot_options(const char *url);
void pilot_init(struct pilot *pilot, const struct fmapi_options *options);
/* Destroys what there is, runs the loop until closed, asserts that it is left empty. */
void pilot_release(struct pilot *pilot);
/* fmapi_destroy without running the loop. */
void pilot_destroy_api(struct pilot *pilot);

void pilot_start(struct pilot *pilot, enum fmcall_kind kind, const char *name,
                 struct landing *landing);
void pilot_start_login(struct pilot *pilot, struct landing *landing);
void pilot_start_login_at(struct pilot *pilot, unsigned url, struct landing *landing);
/* Runs the loop until done was called; asserts that it was called once. */
void pilot_await(struct pilot *pilot, const struct landing *landing);
/* Runs the loop until what holds(arg) says is so. */
void pilot_await_that(struct pilot *pilot, bool holds(void *arg), void *arg);
/* Start and await. */
struct landing pilot_call(struct pilot *pilot, enum fmcall_kind kind, const char *name);
struct landing pilot_step(struct pilot *pilot, enum fmcall_kind kind,
                          const struct fmapi_step *what);
struct landing pilot_login(struct pilot *pilot);
struct landing pilot_login_at(struct pilot *pilot, unsigned url);
struct fmapi_counters pilot_counters(const struct pilot *pilot);

fmapi_call_fn pilot_land; /* with a struct landing */

#endif
