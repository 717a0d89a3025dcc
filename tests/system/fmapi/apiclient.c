/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/system/fmapi/apiclient.h"
#include "tests/unit/unit.h"

#include <signal.h>

int apiclient_prepare(void **state)
{
    (void)signal(SIGPIPE, SIG_IGN);
    return 0;
}

struct fmapi_options apiclient_options(const char *url)
{
    return (struct fmapi_options){
        .urls = {url}, .auth = FMAPI_AUTH_NONE, .verify = 1, .timeout_ms = 60000, .parallel = 4};
}

static void on_deadline(uv_timer_t *timer)
{
    fprintf(stderr, "pilot: what the test waits for did not happen\n");
    abort();
}

/* An answer may come in a timer's turn; the loop would then sleep before uv_run returns. */
static void on_before_sleep(uv_prepare_t *prepare)
{
    struct apiclient *apiclient = prepare->data;
    if (!apiclient->api || (apiclient->awaited && apiclient->awaited->times > 0))
        uv_stop(&apiclient->loop);
}

void apiclient_init(struct apiclient *apiclient, const struct fmapi_options *options)
{
    struct error err = {0};

    *apiclient = (struct apiclient){0};
    assert_int_equal(uv_loop_init(&apiclient->loop), 0);
    assert_int_equal(uv_timer_init(&apiclient->loop, &apiclient->deadline), 0);
    assert_int_equal(uv_timer_start(&apiclient->deadline, on_deadline, 110000, 0), 0);
    assert_int_equal(uv_prepare_init(&apiclient->loop, &apiclient->before_sleep), 0);
    apiclient->before_sleep.data = apiclient;
    assert_int_equal(uv_prepare_start(&apiclient->before_sleep, on_before_sleep), 0);
    apiclient->api = fmapi_create(&apiclient->loop, options, &err);
    if (!apiclient->api)
        fail_msg("%s", err.text);
}

static void on_closed(void *arg)
{
    struct apiclient *apiclient = arg;
    assert_false(apiclient->closed);
    apiclient->closed = true;
}

void apiclient_destroy_api(struct apiclient *apiclient)
{
    fmapi_destroy(apiclient->api, on_closed, apiclient);
    apiclient->api = NULL;
    assert_false(apiclient->closed);
}

void apiclient_release(struct apiclient *apiclient)
{
    if (apiclient->api)
        apiclient_destroy_api(apiclient);
    while (!apiclient->closed)
        (void)uv_run(&apiclient->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&apiclient->deadline, NULL);
    uv_close((uv_handle_t *)&apiclient->before_sleep, NULL);
    assert_int_equal(uv_run(&apiclient->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&apiclient->loop), 0); /* nothing of fmapi's is left in it */
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

void apiclient_land(void *arg, const struct fmapi_reply *reply)
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
    if (reply->steps)
        write_steps(landing->steps, sizeof landing->steps, reply->steps);
}

void apiclient_start(struct apiclient *apiclient, enum fmcall_kind kind, const char *name,
                     struct landing *landing)
{
    unsigned before = landing->times;
    fmapi_call(apiclient->api, kind, &(struct fmcall_about){.name = name, .addresses = 23},
               apiclient_land, landing);
    assert_int_equal(landing->times, before); /* never from inside the start function */
}

static void on_login(void *arg, int code, const char *words)
{
    struct landing *landing = arg;
    landing->times++;
    landing->code = code;
    (void)snprintf(landing->words, sizeof landing->words, "%s", words);
}

void apiclient_start_login_at(struct apiclient *apiclient, unsigned url, struct landing *landing)
{
    fmapi_login(apiclient->api, url, on_login, landing);
    assert_int_equal(landing->times, 0);
}

void apiclient_start_login(struct apiclient *apiclient, struct landing *landing)
{
    apiclient_start_login_at(apiclient, 0, landing);
}

void apiclient_await(struct apiclient *apiclient, const struct landing *landing)
{
    apiclient->awaited = landing;
    while (landing->times == 0)
        (void)uv_run(&apiclient->loop, UV_RUN_ONCE);
    apiclient->awaited = NULL;
    assert_int_equal(landing->times, 1);
}

static void on_look(uv_timer_t *timer)
{
    (void)timer; /* it only ends a turn of the loop */
}

void apiclient_await_that(struct apiclient *apiclient, bool holds(void *arg), void *arg)
{
    uv_timer_t look;
    assert_int_equal(uv_timer_init(&apiclient->loop, &look), 0);
    assert_int_equal(uv_timer_start(&look, on_look, 2, 2), 0);
    while (!holds(arg))
        (void)uv_run(&apiclient->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&look, NULL);
    (void)uv_run(&apiclient->loop, UV_RUN_NOWAIT);
}

struct landing apiclient_call(struct apiclient *apiclient, enum fmcall_kind kind, const char *name)
{
    struct landing landing = {0};
    apiclient_start(apiclient, kind, name, &landing);
    apiclient_await(apiclient, &landing);
    return landing;
}

struct landing apiclient_step(struct apiclient *apiclient, enum fmcall_kind kind,
                              const struct fmcall_about *what)
{
    struct landing landing = {0};
    fmapi_call(apiclient->api, kind, what, apiclient_land, &landing);
    assert_int_equal(landing.times, 0); /* never from inside the start function */
    apiclient_await(apiclient, &landing);
    assert_false(landing.has_token);
    assert_true(landing.steps[0] == '\0' || kind == FMCALL_STEPS);
    if (!secret_none(what->token))
        assert_null(strstr(landing.words, secret_expose(what->token)));
    return landing;
}

struct landing apiclient_login_at(struct apiclient *apiclient, unsigned url)
{
    struct landing landing = {0};
    apiclient_start_login_at(apiclient, url, &landing);
    apiclient_await(apiclient, &landing);
    return landing;
}

struct landing apiclient_login(struct apiclient *apiclient)
{
    return apiclient_login_at(apiclient, 0);
}

struct fmapi_counters apiclient_counters(const struct apiclient *apiclient)
{
    struct fmapi_counters counters;
    fmapi_counters(apiclient->api, &counters);
    return counters;
}
