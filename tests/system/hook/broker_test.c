/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-cleanup with a broker to ask, and what it does when that is gone (F19, B3, I6). */

#include "tests/system/hook/porch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>

#define NOBODY "http://127.0.0.1:1"

enum { TOKEN_SIZE = 1100 };

static void said(struct porch *porch, const char *words)
{
    if (!strstr(porch_said(porch), words))
        fail_msg("\"%s\" lacks \"%s\"", porch_said(porch), words);
}

/* Nothing but the broker could have done it. */
static void leave_only_the_broker(struct porch *porch)
{
    porch_set_broker(porch);
    porch_set(porch, "FI_CXI_COLL_FABRIC_MGR_URL", NOBODY "/fabric/collectives/multicasts");
}

static void broker__is_asked_first(void **state)
{
    (void)state;
    static const char *const kinds[] = {"own-job", "get", "patch"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct porch *porch = porch_open(kinds[i], i == 0);
        leave_only_the_broker(porch);
        assert_int_equal(PORCH_RUN(porch, "--strict", "--wait"), 0);
        assert_string_equal(porch_said(porch), "");
        porch_trees_are(porch, PORCH_WITHOUT_STEP);
        assert_int_equal(PORCH_RUN(porch, "--strict", "--step", "/fC"), 0);
        porch_await_trees(porch, "/fA/fB=1 /fAx=1 ");
        porch_close(porch);
    }
}

static void broker__sees_to_what_is_below(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    leave_only_the_broker(porch);
    assert_int_equal(PORCH_RUN(porch, "--strict", "--below"), 0);
    porch_await_trees(porch, PORCH_WITHOUT_BELOW);
    porch_close(porch);
}

/* With nothing else in the environment. */
static void narrowed__token_is_enough(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    char token[TOKEN_SIZE];
    porch_mint(porch, "/fA", token, sizeof token);
    porch_clear(porch);
    porch_set_broker(porch);
    porch_set(porch, "MCAST_TOKEN", token);
    assert_int_equal(PORCH_RUN(porch, "--strict", "--wait", "--step", "/fA"), 0);
    porch_trees_are(porch, PORCH_WITHOUT_STEP);
    assert_int_equal(PORCH_RUN(porch, "--strict", "--wait", "--step", "/fC"), 1);
    said(porch, "/fA");
    assert_null(strstr(porch_said(porch), token + 8));

    stage_kill_broker(porch_stage(porch)); /* and it opens nothing at the fabric manager */
    assert_int_equal(PORCH_RUN(porch, "--strict", "--wait", "--step", "/fA/fB", "--deadline", "1s"),
                     1);
    said(porch, "the broker: ");
    porch_trees_are(porch, PORCH_WITHOUT_STEP);
    porch_close(porch);
}

/* The session token beside it would open the step: whoever narrowed it meant it. */
static void narrowed__token_is_not_got_round(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    char token[TOKEN_SIZE];
    porch_mint(porch, "/fA/fB", token, sizeof token);
    porch_set_broker(porch);
    porch_set(porch, "MCAST_TOKEN", token);
    const long before = porch_requests(porch);
    assert_int_equal(PORCH_RUN(porch, "--strict", "--wait", "--step", "/fC"), 1);
    said(porch, "/fA/fB");
    assert_int_equal(porch_requests(porch), before);
    porch_trees_are(porch, PORCH_ALL);
    porch_close(porch);
}

static void broker__that_is_gone_is_done_without(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", true);
    porch_set_broker(porch);
    stage_kill_broker(porch_stage(porch));
    assert_int_equal(PORCH_RUN(porch, "--strict", "--wait"), 0);
    assert_string_equal(porch_said(porch), "");
    porch_trees_are(porch, PORCH_WITHOUT_STEP);
    static const char *const urls[] = {"https://127.0.0.1:1", "http://elsewhere:7470", "nonsense"};
    static const char *const steps[] = {"/fA/fB", "/fAx", "/fC"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        porch_set(porch, "MCAST_URL", urls[i]);
        assert_int_equal(PORCH_RUN(porch, "--strict", "--wait", "--step", steps[i]), 0);
    }
    porch_trees_are(porch, "");
    porch_close(porch);
}

static void broker__that_hangs_is_done_without(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    porch_set_broker(porch);
    process_signal(stage_broker(porch_stage(porch)), SIGSTOP);
    assert_int_equal(PORCH_RUN(porch, "--strict", "--below", "--deadline", "10m"), 0);
    porch_await_trees(porch, PORCH_WITHOUT_BELOW);
    porch_close(porch);
}

/* Its ledger is new: it knows neither job nor token. The fabric manager does. */
static void broker__that_does_not_know_the_token_is_done_without(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    porch_set_broker(porch);
    porch_set(porch, "MCAST_TOKEN", "sess-ffffffffffffffffffffffffffffffff");
    assert_int_equal(PORCH_RUN(porch, "--strict", "--wait"), 0);
    porch_trees_are(porch, PORCH_WITHOUT_STEP);
    porch_close(porch);
}

static void both__gone_is_given_up_in_time(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    porch_set_broker(porch);
    stage_kill_broker(porch_stage(porch));
    stage_kill_fm(porch_stage(porch));
    assert_int_equal(PORCH_RUN(porch, "--strict", "--deadline", "1s"), 0); /* left to itself */
    assert_string_equal(porch_said(porch), "");
    assert_int_equal(PORCH_RUN(porch, "--wait", "--deadline", "1s"), 0);
    said(porch, "the broker: ");
    said(porch, "the fabric manager: cannot be reached");
    assert_ptr_equal(strchr(porch_said(porch), '\n'),
                     porch_said(porch) + strlen(porch_said(porch)) - 1);
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--deadline", "1s"), 1);
    porch_close(porch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broker__is_asked_first),
        cmocka_unit_test(broker__sees_to_what_is_below),
        cmocka_unit_test(narrowed__token_is_enough),
        cmocka_unit_test(narrowed__token_is_not_got_round),
        cmocka_unit_test(broker__that_is_gone_is_done_without),
        cmocka_unit_test(broker__that_hangs_is_done_without),
        cmocka_unit_test(broker__that_does_not_know_the_token_is_done_without),
        cmocka_unit_test(both__gone_is_given_up_in_time),
    };
    return cmocka_run_group_tests_name("hook_broker", tests, NULL, NULL);
}
