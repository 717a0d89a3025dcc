/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to jobs, in the log with its fields. */

#include "tests/unit/unit.h"

#include "broker/log/decisionlog.h"
#include "tests/coreconfig.h"
#include "broker/log/log.h"
#include "tests/unit/broker/datagrams.h"

static struct core *core;

static int open_core(void **state)
{
    struct core_config config;
    datagrams_open(state);
    datagrams_become_journal();
    log_set_level(LOG_DEBUG);

    coreconfig_init(&config);
    strcpy(config.clusters[0].name, "elcap");
    config.cluster_count = 1;
    core = core_create(&config);
    core_start(core, 1000);
    return 0;
}

static int close_core(void **state)
{
    core_destroy(core);
    return datagrams_close(state);
}

/* Steps the core and carries out nothing but traces and events. */
static void step(struct core_event *event)
{
    size_t count;
    event->now_ms = 2000;
    core_step(core, event);
    const struct effect *effects = core_effects(core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_TRACE)
            decisionlog_trace(&effects[i]);
        if (effects[i].kind == EFFECT_EVENT)
            decisionlog_event(core, effects[i].u.event->seq);
    }
}

static void reserve(const char *job, int vnis)
{
    struct core_event event = {
        .kind = CORE_RESERVE,
        .ticket = 1,
        .u.reserve =
            {.cluster = "elcap", .job = job, .node_count = 2, .uid = 1000, .vni_count = vnis},
    };
    step(&event);
}

/* The message of one event, the others being skipped. */
static const char *await_event(const char *word)
{
    char field[64];
    const char *message;
    (void)snprintf(field, sizeof field, "\nMCASTD_EVENT=%s\n", word);
    while (*(message = datagrams_next()) != '\0') {
        if (strstr(message, field))
            return message;
    }
    fail_msg("no message has %s", field);
    return "";
}

static void job__can_be_followed_by_its_fields(void **state)
{
    reserve("f1", 1);
    const char *message = await_event("reserved");
    assert_memory_equal(message, "MESSAGE=elcap-f1: reserved", 26);
    assert_non_null(strstr(message, "\nPRIORITY=6\n"));
    assert_non_null(strstr(message, "\nMCASTD_CLUSTER=elcap\nMCASTD_JOB=f1\nMCASTD_VNI=1024\n"));
    struct core_event release = {
        .kind = CORE_RELEASE, .ticket = 2, .u.release = {.cluster = "elcap", .job = "f1"}};
    step(&release);
    message = await_event("released");
    assert_non_null(strstr(message, "\nMCASTD_JOB=f1\n"));
}

static void trace__has_the_job_it_is_about(void **state)
{
    struct effect effect = {.kind = EFFECT_TRACE,
                            .u.trace = {.level = LOG_WARNING,
                                        .text = "gone -> lost",
                                        .cluster = "elcap",
                                        .job = "f2",
                                        .vni = 7}};
    decisionlog_trace(&effect);
    assert_string_equal(datagrams_next(),
                        "MESSAGE=gone -> lost\nPRIORITY=4\nSYSLOG_IDENTIFIER=mcastd\n"
                        "MCASTD_CLUSTER=elcap\nMCASTD_JOB=f2\nMCASTD_VNI=7\n");
    effect.u.trace.cluster = effect.u.trace.job = NULL;
    effect.u.trace.vni = 0;
    decisionlog_trace(&effect);
    assert_string_equal(datagrams_next(),
                        "MESSAGE=gone -> lost\nPRIORITY=4\nSYSLOG_IDENTIFIER=mcastd\n");
}

/* Whatever many jobs meet at once, the link's trouble is still told. */
static void flood_of_jobs__does_not_hide_the_link(void **state)
{
    struct effect effect = {
        .kind = EFFECT_TRACE,
        .u.trace = {
            .level = LOG_WARNING, .text = "elcap-f1: lost", .cluster = "elcap", .job = "f1"}};
    for (int i = 0; i < 5000; i++) {
        decisionlog_trace(&effect);
        (void)datagrams_next();
    }
    assert_string_equal(datagrams_next(), "");
    effect.u.trace.cluster = effect.u.trace.job = NULL;
    effect.u.trace.text = "fabric manager: gone -> link down";
    decisionlog_trace(&effect);
    assert_memory_equal(datagrams_next(), "MESSAGE=fabric manager: gone", 28);
}

/* One loss, one line: the core's own, at the level that it has. */
static void trouble__is_told_once(void **state)
{
    struct core_config config;
    coreconfig_init(&config);
    strcpy(config.clusters[0].name, "elcap");
    config.cluster_count = 1;
    config.fm_present = true;
    config.fm_url_count = 1;
    strcpy(config.fm_urls[0], "http://fmn");
    config.addresses_per_job = 8;
    core_destroy(core);
    core = core_create(&config);
    core_start(core, 1000);
    log_set_level(LOG_INFO);
    struct core_event refused = {.kind = CORE_LOGIN_DONE, .u.login = {.words = "401, go away"}};
    step(&refused);
    const char *message;
    int told = 0;
    while (*(message = datagrams_next()) != '\0')
        told += strstr(message, "401, go away") != NULL;
    assert_int_equal(told, 1);
    log_set_level(LOG_DEBUG);
    for (uint64_t seq = 1; seq < 3; seq++)
        decisionlog_event(core, seq);
    (void)await_event("link-down"); /* for whoever searches by fields */
}

static void level__keeps_events_out(void **state)
{
    log_set_level(LOG_NOTICE);
    reserve("f1", 1);
    assert_string_equal(datagrams_next(), "");
}

#define CORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_core, close_core)

UNIT_MAIN(CORE_TEST(job__can_be_followed_by_its_fields), CORE_TEST(trace__has_the_job_it_is_about),
          CORE_TEST(trouble__is_told_once), CORE_TEST(level__keeps_events_out),
          CORE_TEST(flood_of_jobs__does_not_hide_the_link),
          /* last: it spends the budget */)
