/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/link.h"

#include "core/reconcile/reconcile.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The link to the fabric manager: down → logging in → listing → up, and back (F13, F20).
 * Nothing is sent to it but in `up`; coming up always compares first. */

enum {
    RETRY_DOUBLINGS = 5,
    PROBE_QUIET_MS = 1000, /* it has not said anything for so long */
    LATE_FACTOR = 8,       /* × call_timeout: then a list, after a RESERVE that was not answered */
};

const char *link_state_word(enum link_state state)
{
    static const char *const words[] = {"down", "logging-in", "listing", "up"};
    return state <= LINK_UP ? words[state] : "unknown";
}

bool link_worth_waiting(const struct link *link)
{
    if (link->state == LINK_UP)
        return !link->silent;
    return link->state != LINK_DOWN && link->failures == 0;
}

void link_heard(struct core *core)
{
    struct link *link = &core->link;
    link->heard_ms = core->now_ms;
    if (link->silent)
        core_trace(core, TRACE_NOTICE, "the fabric manager answers again -> jobs wait for it");
    link->silent = false;
}

/* A manager that is slow for one job only answers a list at once; one that refused a try of this
 * job has answered, though its next call may be under way. */
void link_given_up(struct core *core, int64_t waits_ms)
{
    struct link *link = &core->link;
    assert(waits_ms <= core->now_ms);
    if (link->state != LINK_UP || link->silent || waits_ms < link->heard_ms)
        return;
    link->silent = true;
    link->fault = FM_TIMEOUT;
    (void)snprintf(link->error, sizeof link->error, "it has answered nothing for %lld ms",
                   (long long)(core->now_ms - waits_ms));
    core_trace(
        core, TRACE_WARNING,
        "the fabric manager has answered nothing for %lld ms -> until it does, jobs start at "
        "once, without hardware collectives; its list is asked for; see its own log",
        (long long)(core->now_ms - waits_ms));
    link_list_within(core, 0);
}

/* The time is that of coming up or going down: attempts in between do not change it. */
static void enter_state(struct core *core, enum link_state state)
{
    assert(state != LINK_UP || core->link.state == LINK_LISTING);
    assert(state != LINK_LISTING || core->link.state == LINK_LOGGING_IN);
    core_trace(core, state == LINK_UP ? TRACE_NOTICE : TRACE_DEBUG,
               "link to the fabric manager%s%s: %s -> %s", core->config.fm_url_count > 1 ? " " : "",
               core->config.fm_url_count > 1 ? core_fm_url(core) : "",
               link_state_word(core->link.state), link_state_word(state));
    if ((state == LINK_UP) != (core->link.state == LINK_UP))
        core->link.since_ms = core->now_ms;
    core->link.state = state;
    core->link.silent = false;
}

void link_start(struct core *core)
{
    assert(core->link.state == LINK_DOWN || core->link.state == LINK_LOGGING_IN);
    assert(core->link.url < FM_URLS_MAX);
    if (!core->config.fm_present)
        return;
    enter_state(core, LINK_LOGGING_IN);
    if (core->link.logging_in)
        return; /* one that an earlier attempt began is as good as a new one, unless login_again */
    core->link.logging_in = true;
    core->link.login_again = false;
    core_effect(core, EFFECT_LOGIN)->u.login.url = core->link.url;
}

static void begin_list(struct core *core)
{
    assert(core->link.state == LINK_LISTING || core->link.state == LINK_UP);
    assert(core->link.list == 0);
    core->link.list = ++core->last_list;
    core->link.list_began_ms = core->now_ms;
    strays_begin(&core->strays);
    core_effect(core, EFFECT_LIST)->u.list.id = core->link.list;
}

/* Sooner than usual while something there is not as it should be. */
void link_schedule_list(struct core *core)
{
    assert(core->link.state == LINK_LISTING || core->link.state == LINK_UP);
    int64_t wait = core->config.relist_ms > 0 ? core->config.relist_ms : INT64_MAX;
    bool odd = core->strays.known.count > 0 || core->alarms || missing_wants_list(core);
    if (odd && core->config.stray_grace_ms < wait)
        wait = core->config.stray_grace_ms;
    /* Also where none is made otherwise: what is acted on so late must be found (F21). */
    if (core->link.unanswered_ms > core->now_ms && core->link.unanswered_ms - core->now_ms < wait)
        wait = core->link.unanswered_ms - core->now_ms;
    core->link.relist_ms = wait == INT64_MAX ? INT64_MAX : core->now_ms + wait;
}

void link_list_within(struct core *core, int64_t wait_ms)
{
    assert(wait_ms >= 0);
    if (core->link.state == LINK_UP && core->link.list == 0 &&
        core->link.relist_ms > core->now_ms + wait_ms)
        core->link.relist_ms = core->now_ms + wait_ms;
}

void link_retry_now(struct core *core)
{
    assert(core->link.state <= LINK_UP);
    if (core->link.state == LINK_DOWN && core->link.retry_ms > core->now_ms)
        core->link.retry_ms = core->now_ms;
}

void link_probe(struct core *core, const struct core_event *event)
{
    (void)event;
    assert(event->kind == CORE_PROBE);
    link_retry_now(core);
    if (core->now_ms - core->link.heard_ms >= PROBE_QUIET_MS)
        link_list_within(core, 0);
}

void link_list_unanswered(struct core *core)
{
    assert(core->config.call_timeout_ms > 0);
    int64_t wait_ms = LATE_FACTOR * core->config.call_timeout_ms;
    core->link.unanswered_ms = core->now_ms + wait_ms;
    link_list_within(core, wait_ms);
}

void link_login_done(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_LOGIN_DONE);
    const char *words = event->u.login.words;
    core->link.logging_in = false;
    if (core->link.login_again && core->link.state == LINK_LOGGING_IN) {
        core_trace(core, TRACE_DEBUG, "a login at a former URL ended -> log in at the one in use");
        link_start(core);
    } else if (core->link.state != LINK_LOGGING_IN) {
        core_trace(core, TRACE_DEBUG, "a login ended that is no longer expected -> ignored");
    } else if (!event->u.login.ok) {
        link_lost(core, 0, words ? words : "the login failed");
    } else {
        enter_state(core, LINK_LISTING); /* a login by name and password has asked nothing */
        begin_list(core);
    }
}

void link_came_up(struct core *core)
{
    assert(core->link.state == LINK_LISTING);
    assert(core->link.list == 0);
    enter_state(core, LINK_UP);
    core->link.failures = 0;
    core->link.timeouts = 0;
    core->link.error[0] = '\0';
    memset(core->link.last_errors, 0, sizeof core->link.last_errors);
    core_publish_cluster(core, EVENT_LINK_UP, NULL, core_fm_url(core));
    jobpoll_start(core);
    /* Everything that was paused, or that the list has put in doubt, goes on. */
    struct operation *at = core->operations;
    for (struct reservation *r; (r = operations_next(&at));)
        core_act(core, r);
}

static void give_up_all(struct core *core, const char *words)
{
    assert(core->link.state == LINK_DOWN);
    struct operation *at = core->operations;
    for (struct reservation *r; (r = operations_next(&at));) {
        if (reservation_waits(r))
            core_give_up(core, r, HWCOLL_UNAVAILABLE,
                         core_text(core, "the link to the fabric manager is down: %s", words));
        else
            core_act(core, r); /* leaves the queue, and the agenda */
    }
}

/* Active and standby of one fabric are tried in turn, without a wait until the round is over. */
static int64_t choose_next_url(struct core *core)
{
    assert(core->config.fm_url_count <= FM_URLS_MAX);
    uint32_t count = core->config.fm_url_count, rounds;
    if (count == 0) /* taken out of the configuration */
        return core->config.link_retry_ms;
    core->link.url = (core->link.url + 1) % count;
    core->link.login_again = core->link.login_again || (core->link.logging_in && count > 1);
    rounds = core->link.failures / count;
    if ((core->link.failures + 1) % count != 0)
        return 0;
    return core->config.link_retry_ms << (rounds < RETRY_DOUBLINGS ? rounds : RETRY_DOUBLINGS);
}

/* A hash of the words without their numbers, which are times and counts (FNV-1a). */
static uint32_t hash_without_digits(const char *words)
{
    assert(words);
    uint32_t hash = 2166136261;
    for (; *words != '\0'; words++) {
        if (*words < '0' || *words > '9')
            hash = (hash ^ (unsigned char)*words) * 16777619;
    }
    return hash;
}

const char *link_cause(const struct core *core)
{
    assert(core->link.state <= LINK_UP);
    return core->link.error[0] == '\0' || !core->config.fm_present
               ? core->link.error
               : fmcall_outcome_cause(core->link.fault);
}

const char *link_advice(const struct link *link)
{
    assert(link->state <= LINK_UP);
    if (link->state == LINK_UP || link->error[0] == '\0')
        return "";
    if (link->fault == 0)
        return "correct what this names: files in [fm] authdir, the OAuth2 endpoint; then: "
               "systemctl reload mcastd";
    switch (link->fault) {
    case FM_UNAUTHORIZED:
        return "put the new password, or client secret, into the file in [fm] authdir, then: "
               "systemctl reload mcastd";
    case FM_UNREACHED:
        return "see that it runs; if it does, correct what this says of [fm] url, of TLS, or of "
               "the network between";
    case FM_TIMEOUT:
    case FM_BROKEN:
        return "see the fabric manager's own log, and its load; if it is well and only slow, raise "
               "[fm] timeout";
    case FM_NOT_ROUTED:
        return "see who answers at [fm] url: a gateway in front of it, or a wrong path";
    default:
        return "see the fabric manager's own log: it answers, but not as it should";
    }
}

void link_lost(struct core *core, enum fmcall_outcome fault, const char *words)
{
    assert(words);
    if (core->link.state == LINK_DOWN)
        return;
    bool was_up = core->link.state == LINK_UP, news = was_up || core->link.failures == 0;
    /* While it stays away the log has each trouble of a URL once: the network, then the password.
     */
    uint32_t *last = &core->link.last_errors[core->link.url], hash = hash_without_digits(words);
    bool repeated = *last == hash;
    *last = hash;
    int64_t wait = choose_next_url(core);

    (void)snprintf(core->link.error, sizeof core->link.error, "%s", words);
    core->link.fault = fault;
    core->link.list_error[0] = '\0';
    core->link.reserves_failed = 0;
    enter_state(core, LINK_DOWN);
    core_trace(core, news || !repeated ? TRACE_WARNING : TRACE_DEBUG,
               "fabric manager: %s -> link down, login at %s in %lld ms; jobs start without "
               "hardware collectives, releases are remembered; what to do: %s",
               words, core_fm_url(core), (long long)wait, link_advice(&core->link));
    core->link.losses += was_up;
    core->link.lost_ms = core->now_ms;
    core->link.failures++;
    core->link.retry_ms = core->now_ms + wait;
    core->link.list = 0;
    if (news)
        core_publish_cluster(core, EVENT_LINK_DOWN, NULL, link_cause(core));
    give_up_all(core, link_cause(core));
}

bool link_configure(struct core *core, const struct core_config *config)
{
    assert(config->fm_url_count <= FM_URLS_MAX);
    const char *in_use = core_fm_url(core);
    for (uint32_t i = 0; i < config->fm_url_count; i++) {
        if (strcmp(config->fm_urls[i], in_use) == 0) {
            core->link.url = i;
            return false;
        }
    }
    core->link.url = 0;
    core->link.login_again = core->link.logging_in;
    return true;
}

void link_move(struct core *core)
{
    assert(core->link.url < FM_URLS_MAX);
    link_lost(core, 0, "its URL was changed in the configuration");
    core->link.url = 0;
    core->link.failures = 0;
    core->reservewait = (struct reservewait){0};
    core->link.retry_ms = core->now_ms;
}

int64_t link_deadline(const struct core *core)
{
    assert(core->link.state <= LINK_UP);
    if (!core->config.fm_present)
        return INT64_MAX;
    if (core->link.state == LINK_DOWN)
        return core->link.retry_ms;
    if (core->link.state == LINK_UP && core->link.list == 0)
        return core->link.relist_ms;
    return INT64_MAX;
}

void link_tick(struct core *core)
{
    if (link_deadline(core) > core->now_ms)
        return;
    assert(core->link.list == 0);
    if (core->link.state == LINK_DOWN)
        link_start(core);
    else
        begin_list(core);
}
