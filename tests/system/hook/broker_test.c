/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-cleanup with a broker to ask, and what it does when that is gone (F19, B3, I6). */

#include "tests/system/hook/fixture.h"
#include "tests/unit/unit.h"

#include <signal.h>

#define NOBODY "http://127.0.0.1:1"

enum { TOKEN_SIZE = 1100 };

static void said(struct fixture *fixture, const char *words)
{
    assert_words(fixture_said(fixture), words);
}

/* Nothing but the broker could have done it. */
static void leave_only_the_broker(struct fixture *fixture)
{
    fixture_set_broker(fixture);
    fixture_set(fixture, "FI_CXI_COLL_FABRIC_MGR_URL", NOBODY "/fabric/collectives/multicasts");
}

static void broker__is_asked_first(void **state)
{
    static const char *const kinds[] = {"own-job", "get", "patch"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct fixture *fixture = fixture_open(kinds[i], i == 0);
        leave_only_the_broker(fixture);
        assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait"), 0);
        assert_string_equal(fixture_said(fixture), "");
        fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
        assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--step", "/fC"), 0);
        fixture_await_trees(fixture, "/fA/fB=1 /fAx=1 ");
        fixture_close(fixture);
    }
}

/* B7: of several brokers one is away. */
static void brokers__one_is_away(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    char urls[256];
    leave_only_the_broker(fixture);
    snprintf(urls, sizeof urls, NOBODY ", %s", testbed_socket(fixture_stage(fixture)));
    fixture_set(fixture, "MCAST_URL", urls);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait"), 0);
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    fixture_close(fixture);
}

static void broker__sees_to_what_is_below(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    leave_only_the_broker(fixture);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--below"), 0);
    fixture_await_trees(fixture, FIXTURE_WITHOUT_BELOW);
    fixture_close(fixture);
}

/* With nothing else in the environment. */
static void narrowed__token_is_enough(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    char token[TOKEN_SIZE];
    fixture_mint(fixture, "/fA", token, sizeof token);
    fixture_clear(fixture);
    fixture_set_broker(fixture);
    fixture_set(fixture, "MCAST_TOKEN", token);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait", "--step", "/fA"), 0);
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait", "--step", "/fC"), 1);
    said(fixture, "/fA");
    assert_null(strstr(fixture_said(fixture), token + 8));

    testbed_kill_broker(fixture_stage(fixture)); /* and it opens nothing at the fabric manager */
    assert_int_equal(
        FIXTURE_RUN(fixture, "--strict", "--wait", "--step", "/fA/fB", "--deadline", "1s"), 1);
    said(fixture, "the broker: ");
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    fixture_close(fixture);
}

/* The session token beside it would open the step: whoever narrowed it meant it. */
static void narrowed__token_is_not_got_round(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    char token[TOKEN_SIZE];
    fixture_mint(fixture, "/fA/fB", token, sizeof token);
    fixture_set_broker(fixture);
    fixture_set(fixture, "MCAST_TOKEN", token);
    const long before = fixture_requests(fixture);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait", "--step", "/fC"), 1);
    said(fixture, "/fA/fB");
    assert_int_equal(fixture_requests(fixture), before);
    fixture_trees_are(fixture, FIXTURE_ALL);
    fixture_close(fixture);
}

static void broker__that_is_gone_is_done_without(void **state)
{
    struct fixture *fixture = fixture_open("own-job", true);
    fixture_set_broker(fixture);
    testbed_kill_broker(fixture_stage(fixture));
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait"), 0);
    assert_string_equal(fixture_said(fixture), "");
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    static const char *const urls[] = {"https://127.0.0.1:1", "http://elsewhere:7470", "nonsense"};
    static const char *const steps[] = {"/fA/fB", "/fAx", "/fC"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        fixture_set(fixture, "MCAST_URL", urls[i]);
        assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait", "--step", steps[i]), 0);
    }
    fixture_trees_are(fixture, "");
    fixture_close(fixture);
}

static void broker__that_hangs_is_done_without(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    fixture_set_broker(fixture);
    process_signal(testbed_broker(fixture_stage(fixture)), SIGSTOP);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--below", "--deadline", "10m"), 0);
    fixture_await_trees(fixture, FIXTURE_WITHOUT_BELOW);
    fixture_close(fixture);
}

/* Its ledger is new: it knows neither job nor token. The fabric manager does. */
static void broker__that_does_not_know_the_token_is_done_without(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    fixture_set_broker(fixture);
    fixture_set(fixture, "MCAST_TOKEN", "sess-ffffffffffffffffffffffffffffffff");
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait"), 0);
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    fixture_close(fixture);
}

static void both__gone_is_given_up_in_time(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    fixture_set_broker(fixture);
    testbed_kill_broker(fixture_stage(fixture));
    testbed_kill_fm(fixture_stage(fixture));
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--deadline", "1s"), 0); /* left to itself */
    assert_string_equal(fixture_said(fixture), "");
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--deadline", "1s"), 0);
    said(fixture, "the broker: ");
    said(fixture, "the fabric manager: cannot be reached");
    assert_ptr_equal(strchr(fixture_said(fixture), '\n'),
                     fixture_said(fixture) + strlen(fixture_said(fixture)) - 1);
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--deadline", "1s"), 1);
    fixture_close(fixture);
}

UNIT_MAIN(cmocka_unit_test(broker__is_asked_first), cmocka_unit_test(brokers__one_is_away),
          cmocka_unit_test(broker__sees_to_what_is_below),
          cmocka_unit_test(narrowed__token_is_enough),
          cmocka_unit_test(narrowed__token_is_not_got_round),
          cmocka_unit_test(broker__that_is_gone_is_done_without),
          cmocka_unit_test(broker__that_hangs_is_done_without),
          cmocka_unit_test(broker__that_does_not_know_the_token_is_done_without),
          cmocka_unit_test(both__gone_is_given_up_in_time))
