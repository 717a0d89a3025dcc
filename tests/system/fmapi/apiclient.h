/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fmapi/fmapi.h"

#include <stdbool.h>

/* fmapi on a loop of its own, and its answers kept for a test to look at. */

struct apiclient {
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

/* Of a group of tests: a connection that breaks is an answer, and ends no program. */
int apiclient_prepare(void **state);

/* Fill in what matters; the rest gets defaults: 60 s, 4 at once, verified. */
struct fmapi_options apiclient_options(const char *url);
void apiclient_init(struct apiclient *apiclient, const struct fmapi_options *options);
/* Destroys what there is, runs the loop until closed, asserts that it is left empty. */
void apiclient_release(struct apiclient *apiclient);
/* fmapi_destroy without running the loop. */
void apiclient_destroy_api(struct apiclient *apiclient);

void apiclient_start(struct apiclient *apiclient, enum fmcall_kind kind, const char *name,
                     struct landing *landing);
void apiclient_start_login(struct apiclient *apiclient, struct landing *landing);
void apiclient_start_login_at(struct apiclient *apiclient, unsigned url, struct landing *landing);
/* Runs the loop until done was called; asserts that it was called once. */
void apiclient_await(struct apiclient *apiclient, const struct landing *landing);
/* Runs the loop until what holds(arg) says is so. */
void apiclient_await_that(struct apiclient *apiclient, bool holds(void *arg), void *arg);
/* Start and await. */
struct landing apiclient_call(struct apiclient *apiclient, enum fmcall_kind kind, const char *name);
struct landing apiclient_step(struct apiclient *apiclient, enum fmcall_kind kind,
                              const struct fmcall_about *what);
struct landing apiclient_login(struct apiclient *apiclient);
struct landing apiclient_login_at(struct apiclient *apiclient, unsigned url);
struct fmapi_counters apiclient_counters(const struct apiclient *apiclient);

fmapi_call_fn apiclient_land; /* with a struct landing */
