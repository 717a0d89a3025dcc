/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-cleanup straight at the fabric manager, with nothing but a job's environment (F19, I6). */

#include "tests/system/hook/porch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>

static void said(struct porch *porch, const char *words)
{
    if (!strstr(porch_said(porch), words))
        fail_msg("\"%s\" lacks \"%s\"", porch_said(porch), words);
    /* One line, as hooks' logs want it. */
    assert_ptr_equal(strchr(porch_said(porch), '\n'),
                     porch_said(porch) + strlen(porch_said(porch)) - 1);
}

static void wait_step(const char *kind, bool tls)
{
    struct porch *porch = porch_open(kind, tls);
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict"), 0);
    assert_string_equal(porch_said(porch), "");
    porch_trees_are(porch, PORCH_WITHOUT_STEP);
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict"), 0); /* gone already */
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--step",
                               "/\xc6\x92"
                               "C"),
                     0);
    porch_trees_are(porch, "/fA/fB=1 /fAx=1 ");
    porch_close(porch);
}

static void wait_below(const char *kind, bool tls)
{
    struct porch *porch = porch_open(kind, tls);
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--below"), 0);
    assert_string_equal(porch_said(porch), "");
    porch_trees_are(porch, PORCH_WITHOUT_BELOW);
    porch_close(porch);
}

static void step__where_the_token_opens_the_job(void **state)
{
    (void)state;
    wait_step("own-job", false);
    wait_step("own-job", true);
}

static void step__where_it_can_only_be_read_goes_tree_by_tree(void **state)
{
    (void)state;
    wait_step("get", false);
    wait_step("get", true);
}

static void step__where_it_can_only_be_changed(void **state)
{
    (void)state;
    wait_step("patch", false);
    wait_step("patch", true);
}

static void step__where_only_trees_are_open_stays(void **state)
{
    (void)state;
    for (int tls = 0; tls <= 1; tls++) {
        struct porch *porch = porch_open("trees-only", tls != 0);
        assert_int_equal(PORCH_RUN(porch, "--wait", "--strict"), 1);
        said(porch, "the fabric manager: HTTP 403");
        assert_int_equal(PORCH_RUN(porch, "--wait"), 0);
        assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--below"), 1);
        porch_trees_are(porch, PORCH_ALL);
        porch_close(porch);
    }
}

static void below__goes_with_the_step(void **state)
{
    (void)state;
    wait_below("own-job", false);
    wait_below("own-job", true);
    wait_below("get", false);
    wait_below("get", true);
}

static void below__that_is_not_shown_stays(void **state)
{
    (void)state;
    for (int tls = 0; tls <= 1; tls++) {
        struct porch *porch = porch_open("patch", tls != 0);
        assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--below"), 1);
        said(porch, "only the step itself is cleaned up");
        porch_trees_are(porch, PORCH_WITHOUT_STEP);
        porch_close(porch);
    }
}

/* I6: with the session token nobody but we keep it within the step. */
static void step__that_is_none_is_not_asked_for(void **state)
{
    (void)state;
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
    struct porch *porch = porch_open("own-job", false);
    const long before = porch_requests(porch);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--step", steps[i]), 1);
        said(porch, "mcast-cleanup: --step: ");
        assert_int_equal(PORCH_RUN(porch, "--below", "--step", steps[i]), 0);
        said(porch, "mcast-cleanup: --step: ");
        porch_set(porch, "FI_CXI_COLL_JOB_STEP_ID", steps[i]);
        assert_int_equal(PORCH_RUN(porch, "--wait", "--strict"), 1);
        said(porch, "mcast-cleanup: FI_CXI_COLL_JOB_STEP_ID");
    }
    assert_int_equal(porch_requests(porch), before);
    porch_trees_are(porch, PORCH_ALL);
    porch_close(porch);
}

static void job__of_another_is_out_of_reach(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    porch_set(porch, "FI_CXI_COLL_MCAST_TOKEN", "sess-0123456789abcdef0123456789abcdef");
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict"), 1);
    said(porch, "the fabric manager: HTTP 4");
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--below"), 1);
    assert_null(strstr(porch_said(porch), "0123456789abcdef"));
    porch_trees_are(porch, PORCH_ALL);
    porch_close(porch);
}

/* A server that nothing vouches for gets no token. */
static void fm__that_cannot_be_trusted_is_sent_nothing(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", true);
    const long before = porch_requests(porch);
    static const char *const cas[] = {"yes", NULL, "/nowhere/ca.pem"};
    for (size_t i = 0; i < sizeof cas / sizeof cas[0]; i++) {
        porch_set(porch, "FI_CXI_COLL_FABRIC_MGR_CACERT", cas[i]);
        assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--deadline", "1s"), 1);
        said(porch, "the fabric manager: cannot be reached");
    }
    assert_int_equal(porch_requests(porch), before);
    porch_set(porch, "FI_CXI_COLL_FABRIC_MGR_CACERT", "no"); /* the site wants it so */
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict"), 0);
    porch_trees_are(porch, PORCH_WITHOUT_STEP);
    porch_close(porch);
}

/* A hiccup is no reason to leave trees behind. */
static void fm__that_is_busy_is_asked_again(void **state)
{
    (void)state;
    struct porch *porch = porch_open("get", false);
    porch_tell_fm(porch, "POST", "/mock/faults",
                  "[{\"method\":\"PATCH\",\"status\":503,\"count\":1},"
                  "{\"method\":\"GET\",\"path\":\"*/jobs/*\",\"drop\":\"before\",\"count\":1},"
                  "{\"method\":\"DELETE\",\"path\":\"*/multicasts/*\",\"garbage\":true,"
                  "\"count\":1}]");
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--below", "--deadline", "10m"), 0);
    porch_trees_are(porch, PORCH_WITHOUT_BELOW);
    porch_close(porch);
}

/* A gateway's 404 does not mean that the trees are gone (F19). */
static void gateway__that_answers_404_has_ended_nothing(void **state)
{
    (void)state;
    struct porch *porch = porch_open("own-job", false);
    porch_tell_fm(porch, "POST", "/mock/faults",
                  "{\"status\":404,\"body\":{\"message\":\"no Route matched with those values\"}}");
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict", "--deadline", "1s"), 1);
    said(porch, "no Route matched with those values");
    porch_trees_are(porch, PORCH_ALL);
    porch_tell_fm(porch, "DELETE", "/mock/faults", NULL);
    assert_int_equal(PORCH_RUN(porch, "--wait", "--strict"), 0);
    porch_trees_are(porch, PORCH_WITHOUT_STEP);
    porch_close(porch);
}

static void environment__that_is_incomplete_is_told_in_words(void **state)
{
    (void)state;
    static const char *const needed[] = {"FI_CXI_COLL_JOB_ID", "FI_CXI_COLL_MCAST_TOKEN",
                                         "FI_CXI_COLL_FABRIC_MGR_URL", "FI_CXI_COLL_JOB_STEP_ID"};
    struct porch *porch = porch_open("own-job", false);
    const long before = porch_requests(porch);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        char words[64], value[512];
        snprintf(value, sizeof value, "%s", porch_get(porch, needed[i]));
        snprintf(words, sizeof words, "%s is not set", needed[i]);
        porch_set(porch, needed[i], NULL);
        assert_int_equal(PORCH_RUN(porch, "--strict"), 1);
        said(porch, words);
        assert_int_equal(PORCH_RUN(porch, "--wait"), 0);
        said(porch, words);
        porch_set(porch, needed[i], ""); /* as good as none */
        assert_int_equal(PORCH_RUN(porch, "--strict", "--wait"), 1);
        said(porch, words);
        porch_set(porch, needed[i], value);
    }
    porch_set(porch, "FI_CXI_COLL_FABRIC_MGR_URL", "https://fmn:8000/elsewhere");
    assert_int_equal(PORCH_RUN(porch, "--strict"), 1);
    said(porch, "does not end in /fabric/collectives/multicasts");
    porch_set(porch, "FI_CXI_COLL_MCAST_TOKEN", "a\nb");
    assert_int_equal(PORCH_RUN(porch, "--strict"), 1);
    said(porch, "FI_CXI_COLL_MCAST_TOKEN is no token");
    assert_int_equal(porch_requests(porch), before);

    porch_clear(porch); /* no hardware collectives: nothing is wrong */
    porch_set_broker(porch);
    assert_int_equal(PORCH_RUN(porch, "--strict"), 0);
    assert_string_equal(porch_said(porch), "");
    porch_trees_are(porch, PORCH_ALL);
    porch_close(porch);
}

static void options__that_are_wrong_fail_no_job(void **state)
{
    (void)state;
    static const struct {
        const char *words[4], *said;
    } rows[] = {{{"--frobnicate"}, "frobnicate"},       {{"--deadline", "0s"}, "--deadline 0s"},
                {{"--deadline", "2h"}, "at most 1h"},   {{"--deadline", "5"}, "with its unit"},
                {{"--deadline", "-5s"}, "--deadline"},  {{"--deadline", ""}, "--deadline"},
                {{"--deadline", "1000d"}, "its unit"},  {{"--step"}, "step"},
                {{"sess-secret"}, "takes no arguments"}};
    struct porch *porch = porch_open("own-job", false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(porch_run(porch, rows[i].words), 0);
        said(porch, rows[i].said);
        assert_null(strstr(porch_said(porch), "sess-secret"));
    }
    assert_int_equal(PORCH_RUN(porch, "--frobnicate", "--strict"), 2);
    assert_int_equal(PORCH_RUN(porch, "--strict", "--deadline", "x"), 2);
    assert_int_equal(PORCH_RUN(porch, "--help"), 0);
    assert_non_null(strstr(porch_said(porch), "Example"));
    assert_int_equal(PORCH_RUN(porch, "--version"), 0);
    assert_string_equal(porch_said(porch), "mcast-cleanup " MCAST_VERSION "\n");
    porch_trees_are(porch, PORCH_ALL);
    porch_close(porch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step__where_the_token_opens_the_job),
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
        cmocka_unit_test(options__that_are_wrong_fail_no_job),
    };
    return cmocka_run_group_tests_name("hook_direct", tests, NULL, NULL);
}
