/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/system/fmapi/pilot.h"

struct fmapi_options pilot_options(const char *url)
{
    return (struct fmapi_options){
        .urls = {url}, .auth = FMAPI_AUTH_NONE, .verify = 1, .timeout_ms = 60000, .parallel = 4};
}

static void on_deadline(uv_timer_t *timer)
{
    (void)timer;
    fprintf(stderr, "pilot: what the test waits for did not happen\n");
    abort();
}

/* An answer may come in a timer's turn; the loop would then sleep before uv_run returns. */
static void on_before_sleep(uv_prepare_t *prepare)
{
    struct pilot *pilot = prepare->data;
    if (pilot->api == NULL || (pilot->awaited != NULL && pilot->awaited->times > 0))
        uv_stop(&pilot->loop);
}

void pilot_init(struct pilot *pilot, const struct fmapi_options *options)
{
    struct error err = {0};

    *pilot = (struct pilot){0};
    assert_int_equal(uv_loop_init(&pilot->loop), 0);
    assert_int_equal(uv_timer_init(&pilot->loop, &pilot->deadline), 0);
    assert_int_equal(uv_timer_start(&pilot->deadline, on_deadline, 110000, 0), 0);
    assert_int_equal(uv_prepare_init(&pilot->loop, &pilot->before_sleep), 0);
    pilot->before_sleep.data = pilot;
    assert_int_equal(uv_prepare_start(&pilot->before_sleep, on_before_sleep), 0);
    pilot->api = fmapi_create(&pilot->loop, options, &err);
    if (pilot->api == NULL)
        fail_msg("%s", err.text);
}

static void on_closed(void *arg)
{
    struct pilot *pilot = arg;
    assert_false(pilot->closed);
    pilot->closed = true;
}

void pilot_destroy_api(struct pilot *pilot)
{
    fmapi_destroy(pilot->api, on_closed, pilot);
    pilot->api = NULL;
    assert_false(pilot->closed);
}

void pilot_release(struct pilot *pilot)
{
    if (pilot->api != NULL)
        pilot_destroy_api(pilot);
    while (!pilot->closed)
        (void)uv_run(&pilot->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&pilot->deadline, NULL);
    uv_close((uv_handle_t *)&pilot->before_sleep, NULL);
    assert_int_equal(uv_run(&pilot->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&pilot->loop), 0); /* nothing of fmapi's is left in it */
}

static void write_steps(char *out, size_t size, const struct fmcall_steps *steps)
{
    FILE *stream = fmemopen(out, size, "w");
    assert_non_null(stream);
    for (size_t i = 0; i < steps->count; i++) {
        (void)fprintf(stream, "%s%s", i > 0 ? " " : "", steps->steps[i].step);
        for (size_t j = 0; j < steps->steps[i].tree_count; j++)
            (void)fprintf(stream, "%c%u", j > 0 ? ',' : '=', steps->steps[i].trees[j]);
    }
    if (steps->skipped > 0)
        (void)fprintf(stream, "+%zu", steps->skipped);
    assert_int_equal(fclose(stream), 0);
}

void pilot_land(void *arg, const struct fmapi_reply *reply)
{
    struct landing *landing = arg;

    landing->times++;
    landing->outcome = reply->outcome;
    landing->status = reply->status;
    landing->took_us = reply->took_us;
    landing->has_token = !secret_none(reply->token);
    (void)snprintf(landing->token, sizeof landing->token, "%s",
                   secret_none(reply->token) ? "" : secret_expose(reply->token));
    (void)snprintf(landing->words, sizeof landing->words, "%s", reply->words);
    if (reply->steps != NULL)
        write_steps(landing->steps, sizeof landing->steps, reply->steps);
}

void pilot_start(struct pilot *pilot, enum fmcall_kind kind, const char *name,
                 struct landing *landing)
{
    unsigned before = landing->times;
    assert_int_equal(fmapi_call(pilot->api, kind, name, 23, pilot_land, landing), 0);
    assert_int_equal(landing->times, before); /* never from inside the start function */
}

static void on_login(void *arg, int code, const char *words)
{
    struct landing *landing = arg;
    landing->times++;
    landing->code = code;
    (void)snprintf(landing->words, sizeof landing->words, "%s", words);
}

void pilot_start_login_at(struct pilot *pilot, unsigned url, struct landing *landing)
{
    fmapi_login(pilot->api, url, on_login, landing);
    assert_int_equal(landing->times, 0);
}

void pilot_start_login(struct pilot *pilot, struct landing *landing)
{
    pilot_start_login_at(pilot, 0, landing);
}

void pilot_await(struct pilot *pilot, const struct landing *landing)
{
    pilot->awaited = landing;
    while (landing->times == 0)
        (void)uv_run(&pilot->loop, UV_RUN_ONCE);
    pilot->awaited = NULL;
    assert_int_equal(landing->times, 1);
}

static void on_look(uv_timer_t *timer)
{
    (void)timer; /* it only ends a turn of the loop */
}

void pilot_await_that(struct pilot *pilot, bool holds(void *arg), void *arg)
{
    uv_timer_t look;
    assert_int_equal(uv_timer_init(&pilot->loop, &look), 0);
    assert_int_equal(uv_timer_start(&look, on_look, 2, 2), 0);
    while (!holds(arg))
        (void)uv_run(&pilot->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&look, NULL);
    (void)uv_run(&pilot->loop, UV_RUN_NOWAIT);
}

struct landing pilot_call(struct pilot *pilot, enum fmcall_kind kind, const char *name)
{
    struct landing landing = {0};
    pilot_start(pilot, kind, name, &landing);
    pilot_await(pilot, &landing);
    return landing;
}

struct landing pilot_step(struct pilot *pilot, enum fmcall_kind kind, const struct fmapi_step *what)
{
    struct landing landing = {0};
    assert_int_equal(fmapi_step(pilot->api, kind, what, pilot_land, &landing), 0);
    assert_int_equal(landing.times, 0); /* never from inside the start function */
    pilot_await(pilot, &landing);
    assert_false(landing.has_token);
    assert_true(landing.steps[0] == '\0' || kind == FMCALL_STEPS);
    if (!secret_none(what->token))
        assert_null(strstr(landing.words, secret_expose(what->token)));
    return landing;
}

struct landing pilot_login_at(struct pilot *pilot, unsigned url)
{
    struct landing landing = {0};
    pilot_start_login_at(pilot, url, &landing);
    pilot_await(pilot, &landing);
    return landing;
}

struct landing pilot_login(struct pilot *pilot)
{
    return pilot_login_at(pilot, 0);
}

struct fmapi_counters pilot_counters(const struct pilot *pilot)
{
    struct fmapi_counters counters;
    fmapi_counters(pilot->api, &counters);
    return counters;
}
