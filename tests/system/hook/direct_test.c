/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-cleanup straight at the fabric manager, with nothing but a job's environment (F19, I6). */

#include "tests/system/hook/fixture.h"
#include "tests/unit/unit.h"

static void said(struct fixture *fixture, const char *words)
{
    assert_words(fixture_said(fixture), words);
    /* One line, as hooks' logs want it. */
    assert_ptr_equal(strchr(fixture_said(fixture), '\n'),
                     fixture_said(fixture) + strlen(fixture_said(fixture)) - 1);
}

static void wait_step(const char *kind, bool tls)
{
    struct fixture *fixture = fixture_open(kind, tls);
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict"), 0);
    assert_string_equal(fixture_said(fixture), "");
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict"), 0); /* gone already */
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--step",
                                 "/\xc6\x92"
                                 "C"),
                     0);
    fixture_trees_are(fixture, "/fA/fB=1 /fAx=1 ");
    fixture_close(fixture);
}

static void wait_below(const char *kind, bool tls)
{
    struct fixture *fixture = fixture_open(kind, tls);
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--below"), 0);
    assert_string_equal(fixture_said(fixture), "");
    fixture_trees_are(fixture, FIXTURE_WITHOUT_BELOW);
    fixture_close(fixture);
}

static void step__where_the_token_opens_the_job(void **state)
{
    wait_step("own-job", false);
    wait_step("own-job", true);
}

static void step__where_it_can_only_be_read_goes_tree_by_tree(void **state)
{
    wait_step("get", false);
    wait_step("get", true);
}

static void step__where_it_can_only_be_changed(void **state)
{
    wait_step("patch", false);
    wait_step("patch", true);
}

static void step__where_only_trees_are_open_stays(void **state)
{
    for (int tls = 0; tls <= 1; tls++) {
        struct fixture *fixture = fixture_open("trees-only", tls != 0);
        assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict"), 1);
        said(fixture, "the fabric manager: HTTP 403");
        assert_int_equal(FIXTURE_RUN(fixture, "--wait"), 0);
        assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--below"), 1);
        fixture_trees_are(fixture, FIXTURE_ALL);
        fixture_close(fixture);
    }
}

static void below__goes_with_the_step(void **state)
{
    wait_below("own-job", false);
    wait_below("own-job", true);
    wait_below("get", false);
    wait_below("get", true);
}

static void below__that_is_not_shown_stays(void **state)
{
    for (int tls = 0; tls <= 1; tls++) {
        struct fixture *fixture = fixture_open("patch", tls != 0);
        assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--below"), 1);
        said(fixture, "only the step itself is cleaned up");
        fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
        fixture_close(fixture);
    }
}

/* I6: with the session token nobody but we keep it within the step. */
static void step__that_is_none_is_not_asked_for(void **state)
{
    static const char *const steps[] = {"..",
                                        "/..",
                                        "/fA/..",
                                        "/fA/../fC",
                                        "/fA//fB",
                                        "/fA/",
                                        "/",
                                        "",
                                        "/fA/./",
                                        "/fA%2ffB",
                                        "/fA%2f..%2f",
                                        "fA/fB",
                                        "/fA\"",
                                        "*",
                                        "/fA fC",
                                        ("/\xca\x84"
                                         "A"),
                                        "/\xc6"};
    struct fixture *fixture = fixture_open("own-job", false);
    const long before = fixture_requests(fixture);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--step", steps[i]), 1);
        said(fixture, "mcast-cleanup: --step: ");
        assert_int_equal(FIXTURE_RUN(fixture, "--below", "--step", steps[i]), 0);
        said(fixture, "mcast-cleanup: --step: ");
        fixture_set(fixture, "FI_CXI_COLL_JOB_STEP_ID", steps[i]);
        assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict"), 1);
        said(fixture, "mcast-cleanup: FI_CXI_COLL_JOB_STEP_ID");
    }
    assert_int_equal(fixture_requests(fixture), before);
    fixture_trees_are(fixture, FIXTURE_ALL);
    fixture_close(fixture);
}

static void job__of_another_is_out_of_reach(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    fixture_set(fixture, "FI_CXI_COLL_MCAST_TOKEN", "sess-0123456789abcdef0123456789abcdef");
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict"), 1);
    said(fixture, "the fabric manager: HTTP 4");
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--below"), 1);
    assert_null(strstr(fixture_said(fixture), "0123456789abcdef"));
    fixture_trees_are(fixture, FIXTURE_ALL);
    fixture_close(fixture);
}

/* A server that no authority signed gets no token. */
static void fm__that_cannot_be_trusted_is_sent_nothing(void **state)
{
    struct fixture *fixture = fixture_open("own-job", true);
    const long before = fixture_requests(fixture);
    static const char *const cas[] = {"yes", NULL, "/nowhere/ca.pem"};
    for (size_t i = 0; i < sizeof cas / sizeof cas[0]; i++) {
        fixture_set(fixture, "FI_CXI_COLL_FABRIC_MGR_CACERT", cas[i]);
        assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--deadline", "15s"), 1);
        said(fixture, "the fabric manager: cannot be reached");
    }
    assert_int_equal(fixture_requests(fixture), before);
    fixture_set(fixture, "FI_CXI_COLL_FABRIC_MGR_CACERT", "no"); /* the site wants it so */
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict"), 0);
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    fixture_close(fixture);
}

/* A hiccup is no reason to leave trees behind. */
static void fm__that_is_busy_is_asked_again(void **state)
{
    struct fixture *fixture = fixture_open("get", false);
    fixture_tell_fm(fixture, "POST", "/mock/faults",
                    "[{\"method\":\"PATCH\",\"status\":503,\"count\":1},"
                    "{\"method\":\"GET\",\"path\":\"*/jobs/*\",\"drop\":\"before\",\"count\":1},"
                    "{\"method\":\"DELETE\",\"path\":\"*/multicasts/*\",\"garbage\":true,"
                    "\"count\":1}]");
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--below", "--deadline", "10m"), 0);
    fixture_trees_are(fixture, FIXTURE_WITHOUT_BELOW);
    fixture_close(fixture);
}

/* A gateway's 404 does not mean that the trees are gone (F19). */
static void gateway__that_answers_404_has_ended_nothing(void **state)
{
    struct fixture *fixture = fixture_open("own-job", false);
    fixture_tell_fm(
        fixture, "POST", "/mock/faults",
        "{\"status\":404,\"body\":{\"message\":\"no Route matched with those values\"}}");
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict", "--deadline", "5s"), 1);
    said(fixture, "no Route matched with those values");
    fixture_trees_are(fixture, FIXTURE_ALL);
    fixture_tell_fm(fixture, "DELETE", "/mock/faults", NULL);
    assert_int_equal(FIXTURE_RUN(fixture, "--wait", "--strict"), 0);
    fixture_trees_are(fixture, FIXTURE_WITHOUT_STEP);
    fixture_close(fixture);
}

static void environment__that_is_incomplete_is_told_in_words(void **state)
{
    static const char *const needed[] = {"FI_CXI_COLL_JOB_ID", "FI_CXI_COLL_MCAST_TOKEN",
                                         "FI_CXI_COLL_FABRIC_MGR_URL", "FI_CXI_COLL_JOB_STEP_ID"};
    struct fixture *fixture = fixture_open("own-job", false);
    const long before = fixture_requests(fixture);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        char words[64], value[512];
        snprintf(value, sizeof value, "%s", fixture_get(fixture, needed[i]));
        snprintf(words, sizeof words, "%s is not set", needed[i]);
        fixture_set(fixture, needed[i], NULL);
        assert_int_equal(FIXTURE_RUN(fixture, "--strict"), 1);
        said(fixture, words);
        assert_int_equal(FIXTURE_RUN(fixture, "--wait"), 0);
        said(fixture, words);
        fixture_set(fixture, needed[i], ""); /* as good as none */
        assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--wait"), 1);
        said(fixture, words);
        fixture_set(fixture, needed[i], value);
    }
    fixture_set(fixture, "FI_CXI_COLL_FABRIC_MGR_URL", "https://fmn:8000/elsewhere");
    assert_int_equal(FIXTURE_RUN(fixture, "--strict"), 1);
    said(fixture, "does not end in /fabric/collectives/multicasts");
    fixture_set(fixture, "FI_CXI_COLL_MCAST_TOKEN", "a\nb");
    assert_int_equal(FIXTURE_RUN(fixture, "--strict"), 1);
    said(fixture, "FI_CXI_COLL_MCAST_TOKEN is no token");
    assert_int_equal(fixture_requests(fixture), before);

    fixture_clear(fixture); /* no hardware collectives: nothing is wrong */
    fixture_set_broker(fixture);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict"), 0);
    assert_string_equal(fixture_said(fixture), "");
    fixture_trees_are(fixture, FIXTURE_ALL);
    fixture_close(fixture);
}

static void options__that_are_wrong_fail_no_job(void **state)
{
    static const struct {
        const char *words[4], *said;
    } rows[] = {{{"--frobnicate"}, "frobnicate"},
                {{"--deadline", "0s"}, "--deadline 0s"},
                {{"--deadline", "2h"}, "at most 1h"},
                {{"--deadline", "5x"}, "a time such as"},
                {{"--deadline", "-5s"}, "--deadline"},
                {{"--deadline", ""}, "--deadline"},
                {{"--deadline", "1000d"}, "a time such as"},
                {{"--step"}, "step"},
                {{"sess-secret"}, "takes no arguments"}};
    struct fixture *fixture = fixture_open("own-job", false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(fixture_run(fixture, rows[i].words), 0);
        said(fixture, rows[i].said);
        assert_null(strstr(fixture_said(fixture), "sess-secret"));
    }
    assert_int_equal(FIXTURE_RUN(fixture, "--frobnicate", "--strict"), 2);
    assert_int_equal(FIXTURE_RUN(fixture, "--strict", "--deadline", "x"), 2);
    assert_int_equal(FIXTURE_RUN(fixture, "--help"), 0);
    assert_non_null(strstr(fixture_said(fixture), "Example"));
    assert_int_equal(FIXTURE_RUN(fixture, "--version"), 0);
    assert_string_equal(fixture_said(fixture), "mcast-cleanup " MCAST_VERSION "\n");
    fixture_trees_are(fixture, FIXTURE_ALL);
    fixture_close(fixture);
}

UNIT_MAIN(cmocka_unit_test(step__where_the_token_opens_the_job),
          cmocka_unit_test(step__where_it_can_only_be_read_goes_tree_by_tree),
          cmocka_unit_test(step__where_it_can_only_be_changed),
          cmocka_unit_test(step__where_only_trees_are_open_stays),
          cmocka_unit_test(below__goes_with_the_step),
          cmocka_unit_test(below__that_is_not_shown_stays),
          cmocka_unit_test(step__that_is_none_is_not_asked_for),
          cmocka_unit_test(job__of_another_is_out_of_reach),
          cmocka_unit_test(fm__that_cannot_be_trusted_is_sent_nothing),
          cmocka_unit_test(fm__that_is_busy_is_asked_again),
          cmocka_unit_test(gateway__that_answers_404_has_ended_nothing),
          cmocka_unit_test(environment__that_is_incomplete_is_told_in_words),
          cmocka_unit_test(options__that_are_wrong_fail_no_job))
