/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials wait in a line with an end, whatever munged does; the test is munged. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/auth/mungecred.h"
#include "base/error.h"

#include <munge.h>
#include <semaphore.h>
#include <stdatomic.h>

static struct {
    atomic_uint at_once, most;
    sem_t entered, may_go;
} munged;

/* Each waits until it may go on. */
static void decode(const char *socket, const char *credential, const char *payload,
                   struct mungecred *out)
{
    unsigned now = atomic_fetch_add(&munged.at_once, 1) + 1;
    for (unsigned most = munged.most; now > most;)
        if (atomic_compare_exchange_weak(&munged.most, &most, now))
            break;
    sem_post(&munged.entered);
    while (sem_wait(&munged.may_go) < 0)
        continue;
    *out = (struct mungecred){.code = !strcmp(socket, "socket") && !strcmp(credential, "shown") &&
                                              !strcmp(payload, "asked")
                                          ? 7
                                          : -1};
    atomic_fetch_sub(&munged.at_once, 1);
}

static void on_decoded(void *arg, const struct mungecred *mungecred)
{
    unsigned *answers = arg;
    /* A machine that is very slow comes to the end of its patience. */
    assert_true(mungecred->code == 7 || mungecred->code == EMUNGE_TIMEOUT);
    (*answers)++;
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void line__has_a_bound(void **state)
{
    uv_loop_t loop;
    unsigned answers = 0;
    bool closed = false;
    (void)state;
    assert_int_equal(sem_init(&munged.entered, 0, 0), 0);
    assert_int_equal(sem_init(&munged.may_go, 0, 0), 0);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct decoder *decoder = decoder_create(&loop, decode);
    assert_non_null(decoder);
    for (unsigned i = 0; i < DECODER_QUEUE_MAX; i++) {
        assert_int_equal(decoder_waiting(decoder), i);
        assert_int_equal(
            decoder_ask(decoder, "socket", "shown", "asked", on_decoded, &answers), 0);
    }
    /* Those that hang hold all threads that there are for it, and nobody else is let in. */
    for (int i = 0; i < DECODER_THREADS; i++)
        sem_wait(&munged.entered);
    assert_int_equal(decoder_ask(decoder, "socket", "shown", "asked", on_decoded, &answers),
                     ERROR_FULL);
    assert_int_equal(answers, 0);
    for (unsigned i = 0; i < DECODER_QUEUE_MAX + 1; i++)
        sem_post(&munged.may_go);
    while (decoder_waiting(decoder) > 0)
        assert_true(uv_run(&loop, UV_RUN_ONCE));
    assert_int_equal(answers, DECODER_QUEUE_MAX);
    assert_int_equal(decoder_ask(decoder, "socket", "shown", "asked", on_decoded, &answers),
                     0);
    while (decoder_waiting(decoder) > 0)
        assert_true(uv_run(&loop, UV_RUN_ONCE));
    assert_int_equal(answers, DECODER_QUEUE_MAX + 1);
    assert_int_equal(munged.most, DECODER_THREADS);
    decoder_destroy(decoder, on_closed, &closed);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(closed);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line__has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
