/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

static enum link_state link_of(const struct driver *d)
{
    return driver_status(d).link;
}

/* F20: login, list, compare, then up; nothing is sent before. */
STARTED(link__comes_up_in_order)
{
    struct driver *d = *state;
    assert_int_equal(link_of(d), LINK_LOGGING_IN);
    driver_reserve(d, driver_request("a", 128)); /* at start it is worth waiting a moment */
    assert_null(driver_answer(d));
    assert_null(driver_find(d, EFFECT_CALL));
    driver_tick(d, 10);
    DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = true);
    assert_int_equal(link_of(d), LINK_LISTING);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_list(d, NULL, 0, FM_OK);
    assert_int_equal(link_of(d), LINK_UP);
    assert_int_equal(driver_events(d, EVENT_LINK_UP), 1);
    (void)driver_call(d, FMCALL_RESERVE);
}

/* While it is down new jobs are answered at once, releases are remembered; coming back resumes. */
UP(link__pauses_and_resumes)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_reserve(d, driver_request("b", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BROKEN, NULL);
    assert_int_equal(link_of(d), LINK_UP); /* one alone may be about its object */
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_UNREACHED, NULL);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_UNAVAILABLE);
    assert_int_equal(link_of(d), LINK_DOWN);
    assert_int_equal(driver_events(d, EVENT_LINK_DOWN), 1);

    driver_reserve(d, driver_request("c", 128));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_UNAVAILABLE);
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    assert_null(driver_find(d, EFFECT_CALL));

    driver_tick(d, d->config.link_retry_ms);
    driver_login(d);
    static const char *const names[] = {"elcap-a"};
    driver_list(d, names, 1, FM_OK);
    assert_int_equal(driver_count(d, EFFECT_CALL), 2); /* a, and b that may be there */
}

/* F21: a job waits for the first attempt, when it may soon be up; not for one after a failure. */
STARTED(link__is_not_waited_for_after_a_failure)
{
    struct driver *d = *state;
    DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = false, .words = "refused");
    driver_tick(d, core_next_deadline(d->core) - d->now);
    assert_int_equal(link_of(d), LINK_LOGGING_IN);
    driver_reserve(d, driver_request("a", 128));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_UNAVAILABLE);
}

STARTED(link__waits_longer_each_time)
{
    struct driver *d = *state;
    int64_t last = 0;
    for (int i = 0; i < 10; i++) {
        assert_non_null(driver_find(d, EFFECT_LOGIN));
        DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = false, .words = "refused");
        assert_int_equal(driver_events(d, EVENT_LINK_DOWN), i == 0); /* told once */
        int64_t wait = core_next_deadline(d->core) - d->now;
        assert_true(wait >= last && wait <= 32 * d->config.link_retry_ms);
        last = wait;
        driver_tick(d, wait);
    }
    assert_int_equal(last, 32 * d->config.link_retry_ms);
}

/* The same trouble is told once, another one too: the network is back, the password is wrong. */
FRESH(link__tells_when_the_trouble_changes)
{
    struct driver *d = *state;
    static const struct {
        const char *words;
        bool told;
    } troubles[] = {{"no connection after 3 ms", true},
                    {"no connection after 12 ms", false},
                    {"HTTP 401: wrong password", true},
                    {"HTTP 401: wrong password", false},
                    {"no connection after 4 ms", true}};
    d->config.trace_level = 4; /* warnings */
    driver_start(d);
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
        DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = false, .words = troubles[i].words);
        assert_int_equal(driver_count(d, EFFECT_TRACE), troubles[i].told);
        driver_tick(d, core_next_deadline(d->core) - d->now);
    }
}

/* An outage of hours is not seconds old because somebody tries. */
UP(link__is_down_since_it_was_lost)
{
    struct driver *d = *state;
    d->now += 5000;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_UNREACHED, NULL);
    const int64_t lost = d->now;
    for (int i = 0; i < 5; i++) {
        driver_tick(d, core_next_deadline(d->core) - d->now);
        driver_login(d);
        driver_list(d, NULL, 0, FM_BROKEN);
        assert_int_equal(driver_status(d).link_since_ms, lost);
    }
    driver_tick(d, core_next_deadline(d->core) - d->now);
    driver_link(d);
    assert_int_equal(driver_status(d).link_since_ms, d->now);
    assert_string_equal(driver_status(d).link_error, ""); /* it is over */
    assert_int_equal(driver_status(d).link_losses, 1);
}

/* B5: one that died is asked for by who looks for faults, and not again and again. */
UP(link__is_probed_when_it_has_been_quiet)
{
    struct driver *d = *state;
    driver_step(d, (struct core_event){.kind = CORE_PROBE});
    assert_null(driver_find(d, EFFECT_LIST)); /* it has answered just now */
    assert_false(driver_status(d).link_probed);
    assert_int_equal(driver_status(d).link_heard_ms, d->now);
    d->now += 5000;
    driver_step(d, (struct core_event){.kind = CORE_PROBE});
    assert_non_null(driver_find(d, EFFECT_LIST));
    const uint64_t list = driver_find(d, EFFECT_LIST)->u.list.id;
    assert_true(driver_status(d).link_probed);
    driver_step(d, (struct core_event){.kind = CORE_PROBE});
    assert_null(driver_find(d, EFFECT_LIST)); /* one list at a time */
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_UNREACHED);
    assert_int_equal(driver_status(d).link, LINK_DOWN);
    assert_false(driver_status(d).link_probed);
    driver_step(d, (struct core_event){.kind = CORE_PROBE});
    assert_null(driver_find(d, EFFECT_LIST));
}

/* B5: who has mended it and reloads, or looks for faults, does not wait for the next try. */
UP(link__is_tried_again_at_once_when_it_may_be_mended)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_UNREACHED, NULL);
    const struct core_event looks[] = {{.kind = CORE_PROBE},
                                       {.kind = CORE_CONFIGURE, .u.config = &d->config}};
    for (int i = 0; i < 2; i++) {
        while (core_next_deadline(d->core) - d->now < 2000) {
            driver_tick(d, core_next_deadline(d->core) - d->now);
            driver_step(d, (struct core_event){.kind = CORE_LOGIN_DONE, .u.login = {.ok = false}});
        }
        driver_step(d, looks[i]);
        assert_non_null(driver_find(d, EFFECT_LOGIN));
        driver_step(d, (struct core_event){.kind = CORE_LOGIN_DONE, .u.login = {.ok = false}});
    }
}

/* B8: the fabric manager's words may name any job; the cause does not. */
UP(link__tells_the_cause_without_its_words)
{
    struct driver *d = *state;
    assert_string_equal(driver_status(d).link_cause, "");
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    assert_non_null(strstr(driver_status(d).link_error, "reserve of elcap-a"));
    assert_string_equal(driver_status(d).link_cause,
                        "it answered that it cannot now, or what cannot be used");
    assert_string_equal(driver_status(d).reserve_cause, driver_status(d).link_cause);
    driver_tick(d, core_next_deadline(d->core) - d->now);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_UNREACHED, NULL);
    assert_string_equal(driver_status(d).link_cause, "it cannot be reached");
    for (int outcome = 0; outcome <= FM_NOT_ROUTED; outcome++)
        assert_true(strlen(fmcall_outcome_cause(outcome)) > strlen("unknown"));
}

/* B5: whoever reads why it is down reads what to do. */
UP(link__says_what_to_do)
{
    struct driver *d = *state;
    static const struct {
        enum fmcall_outcome outcome;
        const char *advice;
    } ends[] = {{FM_UNAUTHORIZED, "put the new password"},
                {FM_UNREACHED, "see that it runs"},
                {FM_TIMEOUT, "raise [fm] timeout"},
                {FM_NOT_ROUTED, "see who answers"},
                {FM_BUSY, "own log"}};
    assert_string_equal(driver_status(d).link_advice, "");
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_UNREACHED, NULL);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        driver_tick(d, core_next_deadline(d->core) - d->now);
        driver_login(d);
        driver_list(d, NULL, 0, ends[i].outcome);
        assert_words(driver_status(d).link_advice, ends[i].advice);
    }
    driver_tick(d, core_next_deadline(d->core) - d->now);
    DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = false, .words = "passwd cannot be read");
    assert_words(driver_status(d).link_advice, "files in [fm] authdir");
}

/* B5: it is up, and what it lists is nonsense: that is told, until a whole list comes. */
UP(link__says_that_lists_cannot_be_used)
{
    struct driver *d = *state;
    for (int i = 0; i < 2; i++) {
        driver_tick(d, core_next_deadline(d->core) - d->now);
        driver_list(d, NULL, 0, i == 0 ? FM_BUSY : FM_OK);
        assert_int_equal(link_of(d), LINK_UP);
        assert_int_equal(driver_status(d).list_error[0] != '\0', i == 0);
    }
}

/* B5: it is up, and jobs get nothing from it. */
UP(link__counts_reserves_that_give_nothing)
{
    struct driver *d = *state;
    static const char *const jobs[] = {"a", "b"};
    const int64_t since = d->now;
    for (uint32_t i = 0; i < 2; i++) {
        driver_reserve(d, driver_request(jobs[i], 128));
        driver_done(d, driver_call(d, FMCALL_RESERVE), FM_DENIED, NULL);
        assert_int_equal(driver_status(d).reserves_failed, i + 1);
        assert_int_equal(driver_status(d).reserves_failing_ms, since);
        d->now += 1000;
    }
    assert_words(driver_status(d).reserve_error, "the fabric manager's words");
    driver_reserved_job(d, "c");
    assert_int_equal(driver_status(d).reserves_failed, 0);
    assert_int_equal(driver_status(d).reserves_failing_ms, 0);
}

/* fmapi takes one login at a time. */
STARTED(link__logs_in_once_at_a_time)
{
    struct driver *d = *state;
    assert_non_null(driver_find(d, EFFECT_LOGIN));
    struct core_config without = d->config;
    without.fm_present = false;
    driver_step(d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &without});
    driver_configure(d);
    assert_null(driver_find(d, EFFECT_LOGIN));
    assert_int_equal(link_of(d), LINK_LOGGING_IN);
    DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = true);
    assert_int_equal(link_of(d), LINK_LISTING);
}

static uint32_t login_url(const struct driver *d)
{
    const struct effect *login = driver_find(d, EFFECT_LOGIN);
    assert_non_null(login);
    return login->u.login.url;
}

static void two_urls(struct driver *d)
{
    driver_init(d);
    strcpy(d->config.fm_urls[1], "http://fm2");
    d->config.fm_url_count = 2;
}

/* F13, F20: active and standby are tried in turn, without a wait until both have failed; what works
 * is kept, and is what jobs are told. */
UNIT(link__tries_the_urls_in_turn)
{
    struct driver d;
    const struct core_event refused = {.kind = CORE_LOGIN_DONE,
                                       .u.login = {.ok = false, .words = "refused"}};
    two_urls(&d);
    driver_start(&d);
    assert_int_equal(login_url(&d), 0);
    driver_step(&d, refused);
    assert_int_equal(login_url(&d), 1); /* in the same step */
    driver_step(&d, refused);
    assert_null(driver_find(&d, EFFECT_LOGIN));
    assert_int_equal(core_next_deadline(d.core) - d.now, d.config.link_retry_ms);
    driver_tick(&d, d.config.link_retry_ms);
    assert_int_equal(login_url(&d), 0);
    driver_step(&d, refused);
    assert_int_equal(login_url(&d), 1);
    DRIVER_STEP(&d, CORE_LOGIN_DONE, login, .ok = true);
    driver_list(&d, NULL, 0, FM_OK);
    assert_int_equal(link_of(&d), LINK_UP);
    assert_string_equal(core_fm_url(d.core), "http://fm2");
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, NULL, 0, FM_TIMEOUT);
    assert_int_equal(login_url(&d), 0); /* lost: the other one first */
    driver_end(&d);
}

/* A reload that keeps the URL in use keeps the link; one that drops it logs in at the new one, also
 * when a login at the old one is under way. */
UNIT(link__follows_a_reload_of_the_urls)
{
    struct driver d;
    two_urls(&d);
    driver_up(&d);
    struct core_config other = d.config;
    strcpy(other.fm_urls[0], "http://fm2");
    strcpy(other.fm_urls[1], "http://fm");
    driver_step(&d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &other});
    assert_int_equal(link_of(&d), LINK_UP);
    assert_string_equal(core_fm_url(d.core), "http://fm");

    strcpy(other.fm_urls[0], "http://new");
    other.fm_url_count = 1;
    driver_step(&d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &other});
    assert_int_equal(driver_events(&d, EVENT_LINK_DOWN), 1);
    assert_int_equal(login_url(&d), 0);
    assert_string_equal(core_fm_url(d.core), "http://new");

    strcpy(other.fm_urls[0], "http://newer");
    driver_step(&d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &other});
    assert_null(driver_find(&d, EFFECT_LOGIN)); /* one at a time */
    DRIVER_STEP(&d, CORE_LOGIN_DONE, login, .ok = true);
    assert_int_equal(login_url(&d), 0);
    assert_int_equal(link_of(&d), LINK_LOGGING_IN);
    DRIVER_STEP(&d, CORE_LOGIN_DONE, login, .ok = true);
    assert_int_equal(link_of(&d), LINK_LISTING);
    driver_end(&d);
}

static void configure_urls(struct driver *d, const char *first, const char *second,
                           const char *third)
{
    const char *const urls[] = {first, second, third};
    d->config.fm_url_count = 0;
    for (size_t i = 0; i < 3 && urls[i]; i++)
        strcpy(d->config.fm_urls[d->config.fm_url_count++], urls[i]);
    driver_configure(d);
}

/* F5, F13: from the URL in use, wherever the new order has it, on to the one behind it; and a wait
 * only when all of the new ones have failed. */
UNIT(link__tries_the_urls_in_the_order_of_a_reload)
{
    struct driver d;
    const struct core_event refused = {.kind = CORE_LOGIN_DONE,
                                       .u.login = {.ok = false, .words = "refused"}};
    two_urls(&d);
    driver_up(&d); /* at "http://fm", the first of two */
    configure_urls(&d, "http://a", "http://fm", "http://b");
    assert_int_equal(link_of(&d), LINK_UP);
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, NULL, 0, FM_TIMEOUT);
    assert_int_equal(login_url(&d), 2);
    assert_string_equal(core_fm_url(d.core), "http://b");
    driver_step(&d, refused);
    assert_int_equal(login_url(&d), 0);
    driver_step(&d, refused);
    assert_null(driver_find(&d, EFFECT_LOGIN)); /* all three have failed */
    assert_string_equal(core_fm_url(d.core), "http://fm");
    assert_int_equal(core_next_deadline(d.core) - d.now, d.config.link_retry_ms);

    /* Others altogether: the first of them, at once. */
    configure_urls(&d, "http://c", "http://d", NULL);
    assert_string_equal(core_fm_url(d.core), "http://c");
    assert_int_equal(login_url(&d), 0);
    driver_step(&d, refused);
    assert_int_equal(login_url(&d), 1);
    driver_link(&d);
    /* Of two only the one in use is left. */
    configure_urls(&d, "http://d", NULL, NULL);
    assert_int_equal(link_of(&d), LINK_UP);
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, NULL, 0, FM_TIMEOUT);
    assert_string_equal(core_fm_url(d.core), "http://d");
    driver_tick(&d, core_next_deadline(d.core) - d.now);
    assert_int_equal(login_url(&d), 0);
    driver_end(&d);
}

/* F5: with the first one that is configured, where there was none. */
UNIT(link__begins_with_the_first_url_of_a_reload)
{
    struct driver d;
    two_urls(&d);
    struct core_config with = d.config;
    d.config.fm_present = false;
    d.config.fm_url_count = 0;
    memset(d.config.fm_urls, 0, sizeof d.config.fm_urls);
    driver_start(&d);
    driver_step(&d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &with});
    assert_int_equal(login_url(&d), 0);
    assert_string_equal(core_fm_url(d.core), "http://fm");
    driver_end(&d);
}

/* B8: what is shown of it. */
UNIT(link__has_a_word_for_each_state)
{
    assert_string_equal(link_state_word(LINK_DOWN), "down");
    assert_string_equal(link_state_word(LINK_LOGGING_IN), "logging-in");
    assert_string_equal(link_state_word(LINK_LISTING), "listing");
    assert_string_equal(link_state_word(LINK_UP), "up");
    assert_string_equal(link_state_word((enum link_state)99), "unknown");
}

/* A login that began at the URL before says nothing of the one that is next (two of them). */
UNIT(link__ignores_a_login_at_the_url_before)
{
    struct driver d;
    two_urls(&d);
    driver_start(&d);
    assert_int_equal(login_url(&d), 0);
    struct core_config without = d.config;
    without.fm_present = false;
    driver_step(&d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &without});
    driver_configure(&d);
    assert_null(driver_find(&d, EFFECT_LOGIN)); /* one at a time */
    assert_string_equal(core_fm_url(d.core), "http://fm2");
    DRIVER_STEP(&d, CORE_LOGIN_DONE, login, .ok = true);
    assert_int_equal(login_url(&d), 1);
    assert_int_equal(link_of(&d), LINK_LOGGING_IN);
    DRIVER_STEP(&d, CORE_LOGIN_DONE, login, .ok = true);
    assert_int_equal(link_of(&d), LINK_LISTING);
    driver_end(&d);
}

/* F20: nor does a list that ends when the link is down. */
STARTED(link__ignores_a_list_from_before_it_was_lost)
{
    struct driver *d = *state;
    driver_login(d);
    const struct effect *list = driver_find(d, EFFECT_LIST);
    assert_non_null(list);
    const uint64_t id = list->u.list.id;
    struct core_config without = d->config;
    without.fm_present = false;
    driver_step(d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &without});
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = id, .outcome = FM_OK);
    assert_int_equal(link_of(d), LINK_DOWN);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    assert_int_equal(driver_status(d).link_listed_ms, 0);
}

UP(link__three_timeouts_in_a_row_lose_it)
{
    struct driver *d = *state;
    for (int i = 0; i < 3; i++) {
        char job[2] = {(char)('a' + i), '\0'};
        driver_reserve(d, driver_request(job, 128));
        assert_int_equal(link_of(d), LINK_UP);
        d->now++; /* sent after the link came up */
        driver_done(d, driver_call(d, FMCALL_RESERVE), FM_TIMEOUT, NULL);
    }
    assert_int_equal(link_of(d), LINK_DOWN);
}

static void timed_out(struct driver *d, const char *job, enum fmcall_outcome outcome)
{
    driver_reserve(d, driver_request(job, 128));
    d->now++;
    driver_done(d, driver_call(d, FMCALL_RESERVE), outcome, NULL);
}

/* Those before it was lost do not count for the link that there is now, nor those before an answer.
 */
UP(link__counts_timeouts_in_a_row_only)
{
    struct driver *d = *state;
    d->now++;
    timed_out(d, "a", FM_TIMEOUT);
    timed_out(d, "b", FM_TIMEOUT);
    timed_out(d, "c", FM_UNREACHED);
    assert_int_equal(link_of(d), LINK_DOWN);
    driver_tick(d, core_next_deadline(d->core) - d->now);
    driver_link(d);
    d->now++;
    timed_out(d, "d", FM_TIMEOUT);
    timed_out(d, "e", FM_TIMEOUT);
    assert_int_equal(link_of(d), LINK_UP);
    timed_out(d, "f", FM_DENIED); /* an answer */
    timed_out(d, "g", FM_TIMEOUT);
    timed_out(d, "h", FM_TIMEOUT);
    assert_int_equal(link_of(d), LINK_UP);
    timed_out(d, "i", FM_TIMEOUT);
    assert_int_equal(link_of(d), LINK_DOWN);
}

/* A CHECK that looked before a first try was acted on says "gone"; meanwhile that try settled, and
 * may have left an object that nobody was told of (docs/model). */
FRESH(link__gone_is_not_all_while_a_first_try_was_open)
{
    struct driver *d = *state;
    d->config.relist_ms = 3000;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    d->now++;
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_TIMEOUT, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-1");
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    uint64_t check = driver_call(d, FMCALL_CHECK);
    driver_tick(d, d->config.call_timeout_ms); /* the first try has settled */
    assert_true(core_next_deadline(d->core) > d->now);
    driver_done(d, check, FM_GONE, NULL);
    assert_int_equal(driver_events(d, EVENT_LOST), 0);
    (void)driver_call(d, FMCALL_CHECK); /* which began when all had settled */
}

/* B11, I11: what has our token after a first try has settled is ours, for the next start too. Else
 * that would take another's object, which it finds there later, for the first try's. */
UP(link__settled_first_try_is_no_doubt_after_a_restart)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    d->now++;
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_TIMEOUT, NULL);
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-1");
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_MAYBE);
    driver_tick(d, d->config.call_timeout_ms);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-1");
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
    assert_non_null(driver_find(d, EFFECT_SAVE));
}

/* F22: what the list lacks is asked for by name; gone for good means one fatal event. */
UP(link__lost_reservation_is_told_once)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    assert_int_equal(driver_events(d, EVENT_LOST), 0); /* said once (B11) */
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
    assert_int_equal(core_next_deadline(d->core), d->now + d->config.stray_grace_ms);
    driver_tick(d, d->config.stray_grace_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    assert_int_equal(driver_events(d, EVENT_LOST), 1);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_LOST);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    assert_int_equal(driver_events(d, EVENT_LOST), 0);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* A list can miss one while pages shift; and a manager that came back with an old state has one of
 * the same name that is not the same. So each is asked for, listed or not. */
UP(link__checks_the_token)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-a");
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
    static const char *const names[] = {"elcap-a"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
        driver_tick(d, d->config.relist_ms);
        driver_list(d, names, 1, FM_OK);
        driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-0");
    }
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_LOST);
    assert_null(driver_find(d, EFFECT_CALL)); /* it is another's (B11) */
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* F20: the ledger remembers that the job is over: two looks, a grace period apart, then the
 * leftover is deleted. */
FRESH(link__stray_needs_two_looks)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-77"};
    d->config.vni_single_node = false;
    driver_up(d);
    struct reserve_request q = driver_request("77", 128);
    q.vni_count = 0;
    driver_reserve(d, q);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-77");
    driver_released_job(d, "77");
    assert_null(driver_job(d, "77"));
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 1, FM_OK);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(core_next_deadline(d->core), d->now + d->config.stray_grace_ms);
    driver_tick(d, d->config.stray_grace_ms);
    driver_list(d, names, 1, FM_OK);
    const struct effect *call = driver_find(d, EFFECT_CALL);
    assert_non_null(call);
    assert_string_equal(call->u.call.about.name, "elcap-77");
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-77");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_null(driver_job(d, "77"));
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* F20, B11: also of one that was lost before its job was over, and is listed again after that. */
FRESH(link__deletes_what_was_lost_and_comes_back)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-77"};
    driver_up(d);
    driver_reserved_job(d, "77");
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, NULL, 0, FM_OK);
        driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    }
    assert_int_equal(driver_job(d, "77")->hwcoll, HWCOLL_LOST);
    driver_release(d, "77");
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 1, FM_OK);
    driver_tick(d, d->config.stray_grace_ms);
    driver_list(d, names, 1, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-77");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
}

UP(link__stray_that_vanishes_is_forgotten)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-77"};
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 1, FM_OK);
    driver_tick(d, d->config.stray_grace_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 1, FM_OK);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* A list that was not read whole deletes nothing and loses nothing. */
UP(link__partial_list_concludes_nothing)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-77"};
    driver_reserved_job(d, "a");
    for (int i = 0; i < 4; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, names, 1, FM_BUSY);
        assert_null(driver_find(d, EFFECT_CALL));
    }
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
}

/* B4, I6: names of others, prefixes of ours and the other way round, are never touched. */
UP(link__never_touches_what_is_not_ours)
{
    struct driver *d = *state;
    static const char *const names[] = {"elca-1",    "elcap22-1", "elcap",    "elcap-",
                                        "Elcap-1",   "-1",        "",         "elcap2-5 ",
                                        "el-cap-12", "elcap_2-1", "elcap-a/b"};
    size_t count = sizeof names / sizeof *names;
    for (int i = 0; i < 4; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, names, count, FM_OK);
        assert_null(driver_find(d, EFFECT_CALL));
    }
}

UP(link__warns_of_a_name_conflict_once)
{
    struct driver *d = *state;
    static const char *const names[] = {"elca-12", "elca-13"};
    int warned = 0;
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        uint64_t list = driver_find(d, EFFECT_LIST)->u.list.id;
        DRIVER_STEP(d, CORE_LIST_NAMES, names, .list = list, .names = names, .count = 2);
        warned += driver_count(d, EFFECT_TRACE);
        DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_OK);
    }
    assert_int_equal(warned, 2); /* one for elcap, one for elcap2 */
}

/* Slurm's job ids under our very name: its own plugin's, or what we left behind. */
FRESH(link__warns_of_an_equal_name_once)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-f12", "elcap-12", "elcap-13"};
    d->config.trace_level = 4; /* warnings */
    driver_up(d);
    int warned = 0;
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        uint64_t list = driver_find(d, EFFECT_LIST)->u.list.id;
        DRIVER_STEP(d, CORE_LIST_NAMES, names, .list = list, .names = names, .count = 3);
        const struct effect *trace = driver_find(d, EFFECT_TRACE);
        if (trace)
            assert_non_null(strstr(trace->u.trace.text, "elcap-12"));
        warned += driver_count(d, EFFECT_TRACE);
        DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_OK);
    }
    assert_int_equal(warned, 1);
}

/* What somebody else called himself is shown to people: nothing in it may steer a terminal. */
UNIT(link__another_owners_name_is_made_printable)
{
    static const char *const names[] = {"elca-\x1b[2J\xc2\x9b 7"};
    struct driver d;
    struct core_cluster_status status;
    driver_init(&d);
    driver_start(&d);
    driver_login(&d);
    driver_list(&d, names, 1, FM_OK);
    assert_true(core_cluster_status(d.core, 0, &status));
    assert_string_equal(status.name_conflict, "elca-?[2J???7");
    driver_end(&d);

    /* As much of it as there is room for. */
    char lengthy[100] = "elca-", cut[64] = "elca-";
    const char *const long_names[] = {lengthy};
    memset(lengthy + 5, 'x', sizeof lengthy - 6);
    memset(cut + 5, 'x', sizeof cut - 6);
    driver_start(&d);
    driver_login(&d);
    driver_list(&d, long_names, 1, FM_OK);
    assert_true(core_cluster_status(d.core, 0, &status));
    assert_string_equal(status.name_conflict, cut);
    driver_end(&d);
}

UNIT_RUN(NULL, NULL)
