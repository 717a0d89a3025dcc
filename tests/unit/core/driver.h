/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Drives a core by hand: one call a step, then its effects are looked at. Everything is durable at
 * once here; what happens in between is the simulator's business. */

#include "tests/unit/unit.h"
#include "tests/coreconfig.h"

#include "core/core.h"
#include "core/reservation/reservation.h"

struct driver {
    struct core_config config;
    struct core *core;
    int64_t now;
    uint64_t ticket;
};

static inline void driver_init(struct driver *d)
{
    memset(d, 0, sizeof *d);
    coreconfig_init(&d->config);
    d->config.cluster_count = 2;
    strcpy(d->config.clusters[0].name, "elcap");
    strcpy(d->config.clusters[1].name, "elcap2");
    d->config.fm_present = true;
    d->config.min_nodes = 64;
    d->config.total_addresses = 4086;
    d->config.system_nodes = 11136;
    strcpy(d->config.fm_urls[0], "http://fm");
    d->config.fm_url_count = 1;
    d->now = 1000000;
}

static inline void driver_step(struct driver *d, struct core_event event)
{
    event.now_ms = d->now;
    core_step(d->core, &event);
}

/* A step with a request, or with another event: the members of core_event's u.MEMBER. */
#define DRIVER_ASK(d, event_kind, member, ...)                                                     \
    driver_step(d, (struct core_event){                                                            \
                       .kind = event_kind, .ticket = ++(d)->ticket, .u.member = {__VA_ARGS__}})
#define DRIVER_STEP(d, event_kind, member, ...)                                                    \
    driver_step(d, (struct core_event){.kind = event_kind, .u.member = {__VA_ARGS__}})

static inline void driver_start(struct driver *d)
{
    assert_int_equal(core_config_check(&d->config, NULL), 0);
    d->core = core_create(&d->config);
    core_start(d->core, d->now);
}

static inline void driver_configure(struct driver *d)
{
    driver_step(d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &d->config});
}

static inline void driver_set_hold(struct driver *d, int64_t hold_ms)
{
    d->config.vni_hold_ms = hold_ms;
    driver_configure(d);
}

static inline struct core_status driver_status(const struct driver *d)
{
    struct core_status status;
    core_status(d->core, &status);
    return status;
}

/* VNIs in quarantine. */
static inline uint32_t driver_held(const struct driver *d)
{
    return driver_status(d).vnis_in_quarantine;
}

/* The first effect of a kind in the last step, or NULL. */
static inline const struct effect *driver_find(const struct driver *d, enum effect_kind kind)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == kind)
            return &effects[i];
    }
    return NULL;
}

static inline int driver_count(const struct driver *d, enum effect_kind kind)
{
    size_t count;
    int found = 0;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++)
        found += effects[i].kind == kind;
    return found;
}

/* Whether an event of this kind was published in the last step. */
static inline int driver_events(const struct driver *d, enum event_kind kind)
{
    size_t count;
    int found = 0;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++)
        found += effects[i].kind == EFFECT_EVENT && effects[i].u.event->kind == kind;
    return found;
}

static inline const struct answer *driver_answer(const struct driver *d)
{
    const struct effect *effect = driver_find(d, EFFECT_ANSWER);
    return effect ? &effect->u.answer : NULL;
}

static inline enum answer_kind driver_answered(const struct driver *d)
{
    const struct answer *answer = driver_answer(d);
    assert_non_null(answer);
    return answer->kind;
}

/* The call that the last step handed out; its kind must be this one. Returns its id. */
static inline uint64_t driver_call(const struct driver *d, enum fmcall_kind kind)
{
    const struct effect *effect = driver_find(d, EFFECT_CALL);
    assert_non_null(effect);
    assert_int_equal(effect->u.call.kind, kind);
    return effect->u.call.id;
}

static inline void driver_list(struct driver *d, const char *const *names, size_t count,
                               enum fmcall_outcome outcome)
{
    const struct effect *effect = driver_find(d, EFFECT_LIST);
    assert_non_null(effect);
    uint64_t list = effect->u.list.id;
    DRIVER_STEP(d, CORE_LIST_NAMES, names, .list = list, .names = names, .count = count);
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = outcome);
}

static inline void driver_login(struct driver *d)
{
    assert_non_null(driver_find(d, EFFECT_LOGIN));
    DRIVER_STEP(d, CORE_LOGIN_DONE, login, .ok = true);
}

/* Brings the link up, with nothing at the fabric manager; and starts before. */
static inline void driver_link(struct driver *d)
{
    driver_login(d);
    driver_list(d, NULL, 0, FM_OK);
}

static inline void driver_up(struct driver *d)
{
    driver_start(d);
    driver_link(d);
}

static inline struct reserve_request driver_request(const char *job, uint32_t nodes)
{
    return (struct reserve_request){
        .cluster = "elcap", .job = job, .node_count = nodes, .uid = 5588, .vni_count = -1};
}

static inline void driver_reserve(struct driver *d, struct reserve_request request)
{
    driver_step(
        d, (struct core_event){.kind = CORE_RESERVE, .ticket = ++d->ticket, .u.reserve = request});
}

static inline void driver_release(struct driver *d, const char *job)
{
    DRIVER_ASK(d, CORE_RELEASE, release, .cluster = "elcap", .job = job);
}

static inline void driver_done(struct driver *d, uint64_t call, enum fmcall_outcome outcome,
                               const char *token)
{
    DRIVER_STEP(d, CORE_CALL_DONE, call, .id = call, .outcome = outcome, .token = secret_of(token),
                .words = "the fabric manager's words");
}

static inline void driver_tick(struct driver *d, int64_t ms)
{
    d->now += ms;
    driver_step(d, (struct core_event){.kind = CORE_TICK});
}

/* A job with its addresses, as most tests need one. */
static inline void driver_reserved_job(struct driver *d, const char *job)
{
    char token[FM_NAME_MAX];
    (void)snprintf(token, sizeof token, "sess-%s", job);
    driver_reserve(d, driver_request(job, 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, token);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* The end of such a job. */
static inline void driver_released_job(struct driver *d, const char *job)
{
    driver_release(d, job);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
}

/* A list with nothing in it, and what is asked for because of it is gone: twice, a grace period
 * apart, for one job that has addresses. */
static inline void driver_lose(struct driver *d)
{
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    driver_tick(d, d->config.stray_grace_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
}

/* Whether an alarm of this kind is on. */
static inline bool driver_alarm(const struct driver *d, enum alarm_kind kind)
{
    const struct alarm *alarm = core_alarms(d->core);
    while (alarm && alarm->kind != kind)
        alarm = alarm->next;
    return alarm;
}

static inline const struct reservation *driver_job(const struct driver *d, const char *job)
{
    return core_find(d->core, "elcap", job);
}

static inline void driver_end(struct driver *d)
{
    core_destroy(d->core);
    d->core = NULL;
}

/* Fixtures: a test's state is a driver with the link up; or started; or with nothing but its
 * configuration, so that the test can change that first. */
static inline int driver_fresh(void **state)
{
    driver_init(*state = malloc(sizeof(struct driver)));
    return 0;
}

static inline int driver_started(void **state)
{
    (void)driver_fresh(state);
    driver_start(*state);
    return 0;
}

static inline int driver_is_up(void **state)
{
    (void)driver_fresh(state);
    driver_up(*state);
    return 0;
}

static inline int driver_free(void **state)
{
    driver_end(*state);
    free(*state);
    return 0;
}

/* A fixture of a test file's own; and tests with one, as UNIT_WITH. */
#define DRIVER_FIXTURE(name, begin)                                                                \
    static int name(void **state)                                                                  \
    {                                                                                              \
        begin(*state = malloc(sizeof(struct driver)));                                             \
        return 0;                                                                                  \
    }
#define WITH(setup, test) UNIT_WITH(test, setup, driver_free)
#define UP(test) WITH(driver_is_up, test)
#define STARTED(test) WITH(driver_started, test)
#define FRESH(test) WITH(driver_fresh, test)
