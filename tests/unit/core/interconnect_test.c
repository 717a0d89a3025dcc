/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

#include "core/interconnect/interconnect.h"

/* What jobs of each interconnect draw, and what their tasks are told (S4, S6). */

static const char key_a[] = "00112233445566778899aabbccddeef0",
                  key_b[] = "f0112233445566778899aabbccddee0f";

static struct reserve_request request_on(int interconnect, const char *job, const char *key)
{
    struct reserve_request q = driver_request(job, 128);
    q.interconnect = interconnect;
    q.key = secret_of(key);
    return q;
}

static void reserve_omnipath(struct driver *d, const char *job)
{
    driver_reserve(d, request_on(INTERCONNECT_OMNIPATH, job, key_a));
}

static void give_pkeys(struct driver *d, uint16_t first, uint16_t last)
{
    for (uint32_t key = first; key <= last; key++)
        idset_add(&d->config.omnipath.pkeys, (uint16_t)key);
    d->config.omnipath.pkey_hold_ms = 60000;
}

static void append(void *arg, const char *name, const char *value)
{
    char *text = arg;
    const size_t used = strlen(text);
    assert_in_range(snprintf(text + used, 1024 - used, "%s=%s\n", name, value), 1, 1023 - used);
}

static const char *environment_of(const struct driver *d, const char *job, char text[1024])
{
    text[0] = '\0';
    environment_each(&d->config, "http://fm", driver_job(d, job), NULL, append, text);
    return text;
}

/* The forms are those of fi_opx(7), fi_psm3(7) and fi_info -e. */
FRESH(omnipath__tells_tasks_their_keys)
{
    struct driver *d = *state;
    char text[1024];
    give_pkeys(d, 1, 0x7ffe);
    d->config.omnipath.service_level = 3;
    strcpy(d->config.omnipath.opx_hfi_select, "numa:0:0,numa:1:1");
    strcpy(d->config.omnipath.psm3_nic, "hfi1_*");
    driver_up(d);
    reserve_omnipath(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_string_equal(environment_of(d, "a", text),
                        "FI_OPX_UUID=00112233445566778899aabbccddeef0\n"
                        "FI_PSM3_UUID=00112233-4455-6677-8899-aabbccddeef0\n"
                        "FI_OPX_PKEY=0x8001\n"
                        "PSM3_PKEY=0x8001\n"
                        "FI_OPX_SL=3\n"
                        "FI_OPX_HFI_SELECT=numa:0:0,numa:1:1\n"
                        "PSM3_NIC=hfi1_*\n");
}

FRESH(omnipath__has_a_key_also_without_a_pool)
{
    struct driver *d = *state;
    char text[1024];
    d->config.clusters[0].interconnect = INTERCONNECT_OMNIPATH;
    driver_up(d);
    driver_reserve(d, request_on(-1, "a", key_a)); /* as the cluster's */
    assert_string_equal(environment_of(d, "a", text),
                        "FI_OPX_UUID=00112233445566778899aabbccddeef0\n"
                        "FI_PSM3_UUID=00112233-4455-6677-8899-aabbccddeef0\n");
    driver_release(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    assert_null(driver_job(d, "a")); /* nothing to wait for */
}

/* One endpoint a task, up to eight in a context. */
FRESH(omnipath__shares_contexts_when_tasks_are_more)
{
    struct driver *d = *state;
    static const struct {
        uint32_t contexts, tasks;
        const char *told;
    } cases[] = {
        {0, 64, NULL}, {16, 0, NULL}, {16, 16, NULL}, {16, 17, "2"},
        {16, 32, "2"}, {16, 33, "3"}, {16, 128, "8"}, {16, 129, "8"},
    };
    driver_up(d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reserve_request q = request_on(INTERCONNECT_OMNIPATH, "a", key_a);
        char text[1024], expected[128];
        d->config.omnipath.contexts = cases[i].contexts;
        q.tasks_per_node = cases[i].tasks;
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_CREATED);
        environment_of(d, "a", text);
        snprintf(expected, sizeof expected,
                 "FI_OPX_CONTEXT_SHARING=1\nFI_OPX_ENDPOINTS_PER_HFI_CONTEXT=%s\n",
                 cases[i].told ? cases[i].told : "");
        if (cases[i].told)
            assert_non_null(strstr(text, expected));
        else
            assert_null(strstr(text, "CONTEXT"));
        driver_release(d, "a");
    }
}

/* Another's key reaches neither list nor log nor event, and ends with the job. */
FRESH(omnipath__key_is_the_jobs_secret)
{
    struct driver *d = *state;
    size_t count;
    char text[1024];
    give_pkeys(d, 1, 2);
    driver_up(d);
    reserve_omnipath(d, "a");
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_TRACE)
            assert_null(strstr(effects[i].u.trace.text, key_a));
        if (effects[i].kind == EFFECT_EVENT && effects[i].u.event->detail)
            assert_null(strstr(effects[i].u.event->detail, key_a));
    }
    driver_reserve(d, request_on(INTERCONNECT_OMNIPATH, "a", key_b)); /* the request again */
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_string_equal(secret_expose(driver_job(d, "a")->key), key_a);
    driver_release(d, "a");
    assert_true(secret_none(driver_job(d, "a")->key));
    assert_string_equal(environment_of(d, "a", text), "");
}

/* As with VNIs (F4): a clear answer, nothing stays behind; and free again after the hold. */
FRESH(omnipath__pool_is_exhausted_until_a_key_is_given_back)
{
    struct driver *d = *state;
    give_pkeys(d, 7, 8);
    driver_up(d);
    reserve_omnipath(d, "a");
    reserve_omnipath(d, "b");
    assert_int_equal(driver_job(d, "a")->pkey, 7);
    assert_int_equal(driver_job(d, "b")->pkey, 8);
    reserve_omnipath(d, "c");
    assert_int_equal(driver_answered(d), ANSWER_NO_PKEYS);
    assert_string_equal(
        driver_answer(d)->detail,
        "all 2 partition keys are in use, or quarantined after a release: run the job "
        "when others have ended, or add to [omnipath] partition_keys");
    assert_null(driver_job(d, "c"));
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);

    driver_release(d, "b");
    assert_int_equal(core_pkey_end(d->core, driver_job(d, "b")), d->now + 60000);
    driver_tick(d, 59999);
    reserve_omnipath(d, "c");
    assert_int_equal(driver_answered(d), ANSWER_NO_PKEYS);
    driver_tick(d, 1);
    assert_null(driver_job(d, "b"));
    reserve_omnipath(d, "c");
    assert_int_equal(driver_job(d, "c")->pkey, 8);
}

/* F4: a user who starts and ends jobs in a loop leaves others some; one whose jobs run gets all. */
FRESH(omnipath__leaves_pkeys_for_other_users)
{
    struct driver *d = *state;
    struct reserve_request other = request_on(INTERCONNECT_OMNIPATH, "other", key_b);
    other.uid = 7;
    give_pkeys(d, 1, 14);
    driver_up(d);
    for (int i = 0; i < 11; i++) {
        reserve_omnipath(d, "a");
        assert_int_equal(driver_answered(d), ANSWER_CREATED);
        driver_release(d, "a");
    }
    reserve_omnipath(d, "a");
    assert_int_equal(driver_answered(d), ANSWER_NO_PKEYS);
    assert_string_equal(driver_answer(d)->detail,
                        "released jobs of uid 5588 hold 11 partition keys, so others get what is "
                        "free, 3: run the job when [omnipath] partition_key_hold is over");
    driver_reserve(d, other);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_status(d).pkeys_pool, 14);
    assert_int_equal(driver_status(d).pkeys_free, 2);
    assert_int_equal(driver_status(d).pkeys_taken, 12);
    assert_int_equal(driver_status(d).pkeys_held_most, 11);
    assert_int_equal(driver_status(d).pkeys_refused, 1);
    driver_tick(d, 60000);
    for (int i = 0; i < 13; i++) {
        char job[16];
        (void)snprintf(job, sizeof job, "%d", i);
        reserve_omnipath(d, job);
        assert_int_equal(driver_answered(d), ANSWER_CREATED);
    }
    assert_int_equal(driver_status(d).pkeys_free, 0);
}

/* A key rests as long as the pool allows. */
FRESH(omnipath__gives_pkeys_round_robin)
{
    struct driver *d = *state;
    give_pkeys(d, 1, 3);
    d->config.omnipath.pkey_hold_ms = 0;
    driver_up(d);
    for (uint16_t i = 0; i < 7; i++) {
        reserve_omnipath(d, "a");
        assert_int_equal(driver_job(d, "a")->pkey, 1 + i % 3);
        driver_release(d, "a");
        assert_null(driver_job(d, "a"));
    }
}

/* A start on a host whose clock is another one must know that (S4): the ledger says by which clock
 * a key was given back, also when no VNI is quarantined. */
FRESH(omnipath__release_saves_which_clock_it_was)
{
    struct driver *d = *state;
    size_t count;
    bool saved = false;
    give_pkeys(d, 1, 1);
    d->core = core_create(&d->config);
    core_set_clock(d->core, "b2", 5000);
    core_start(d->core, d->now);
    reserve_omnipath(d, "a");
    driver_release(d, "a");
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++)
        saved |= effects[i].kind == EFFECT_SAVE && effects[i].u.record.kind == RECORD_FACTS &&
                 strcmp(effects[i].u.record.u.facts.boot, "b2") == 0;
    assert_true(saved);
}

FRESH(omnipath__hold_that_is_made_shorter_ends_sooner)
{
    struct driver *d = *state;
    give_pkeys(d, 1, 1);
    driver_up(d);
    reserve_omnipath(d, "a");
    driver_release(d, "a");
    d->config.omnipath.pkey_hold_ms = 1000;
    driver_tick(d, 1000);
    driver_configure(d);
    assert_null(driver_job(d, "a"));
}

static void load(struct core *core, const struct reservation_record *r, int expected)
{
    const struct record record = {.kind = RECORD_RESERVATION, .u.reservation = *r};
    assert_int_equal(core_load(core, &record, NULL), expected);
}

/* Its key and partition key are those of before the restart, and held as long (B6). */
FRESH(omnipath__survives_a_restart)
{
    struct driver *d = *state;
    struct reservation_record a, b;
    char keys[2][JOB_KEY_LENGTH + 1];
    give_pkeys(d, 1, 2);
    driver_up(d);
    reserve_omnipath(d, "a");
    reserve_omnipath(d, "b");
    driver_release(d, "b");
    a = reservation_record(driver_job(d, "a"));
    b = reservation_record(driver_job(d, "b"));
    strcpy(keys[0], secret_expose(a.key));
    struct core *before = d->core;
    d->core = core_create(&d->config);
    load(d->core, &a, 0);
    load(d->core, &b, 0);
    core_destroy(before);
    assert_int_equal(core_check_load(d->core, NULL), 0);
    core_start(d->core, d->now);
    assert_string_equal(secret_expose(driver_job(d, "a")->key), keys[0]);
    reserve_omnipath(d, "c");
    assert_int_equal(driver_answered(d), ANSWER_NO_PKEYS);
    driver_tick(d, 60000);
    reserve_omnipath(d, "c");
    assert_int_equal(driver_job(d, "c")->pkey, 2);
}

FRESH(ledger__with_what_no_job_can_have_is_damaged)
{
    struct driver *d = *state;
    struct core *core = core_create(&d->config);
    struct reservation_record r = {.number = 1,
                                   .cluster = "elcap",
                                   .job = "a",
                                   .node_count = 1,
                                   .wish = WISH_AUTO,
                                   .state = JOB_ACTIVE,
                                   .hwcoll = HWCOLL_INELIGIBLE,
                                   .interconnect = INTERCONNECT_OMNIPATH,
                                   .key = secret_of(key_a),
                                   .pkey = 5};
    load(core, &r, 0);
    r.number = 2;
    r.job = "b";
    load(core, &r, ERROR_CORRUPT);
    core_destroy(core);

    core = core_create(&d->config);
    struct reservation_record wrong[] = {r, r, r, r};
    wrong[0].interconnect = INTERCONNECT_SLINGSHOT, wrong[0].pkey = 0;
    wrong[1].interconnect = INTERCONNECT_SLINGSHOT, wrong[1].key = secret_of(NULL);
    wrong[2].vni_count = 1, wrong[2].vnis[0] = 2000;
    wrong[3].hwcoll = HWCOLL_WANTED;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        load(core, &wrong[i], ERROR_CORRUPT);
    core_destroy(core);
}

/* What only Slingshot has is refused and not left out in silence. */
FRESH(others__have_nothing_of_slingshots)
{
    struct driver *d = *state;
    static const int others[] = {INTERCONNECT_OMNIPATH, INTERCONNECT_NONE};
    driver_up(d);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct reserve_request q = request_on(others[i], "a", key_a);
        driver_reserve(d, q);
        const struct reservation *r = driver_answer(d)->reservation;
        assert_int_equal(driver_answered(d), ANSWER_CREATED);
        assert_int_equal(r->vni_count, 0);
        assert_int_equal(r->traffic_classes, 0);
        assert_int_equal(r->hwcoll, HWCOLL_INELIGIBLE);
        assert_non_null(strstr(r->reason, interconnect_word(others[i])));
        assert_null(driver_find(d, EFFECT_CALL)); /* nor is the fabric manager asked */
        driver_release(d, "a");
        assert_null(driver_job(d, "a"));

        q.vni_count = 1;
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_INVALID);
        assert_string_equal(driver_answer(d)->field, "vni_count");
        q.vni_count = 0;
        q.traffic_classes = TC_LOW_LATENCY;
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_INVALID);
        assert_string_equal(driver_answer(d)->field, "traffic_classes");
        q.traffic_classes = 0;
        q.wish = WISH_REQUIRED;
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_INVALID);
        assert_string_equal(driver_answer(d)->field, "hwcoll");
        q.wish = WISH_OFF;
        driver_reserve(d, q);
        assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_OFF);
        assert_null(driver_answer(d)->reservation->reason);
        driver_release(d, "a");
    }
}

FRESH(none__tells_nothing)
{
    struct driver *d = *state;
    char text[1024];
    driver_up(d);
    driver_reserve(d, request_on(INTERCONNECT_NONE, "a", key_a));
    assert_true(secret_none(driver_job(d, "a")->key));
    assert_string_equal(environment_of(d, "a", text), "");
}

/* S1: what the job said is kept, and told from another request. */
FRESH(layout__of_another_request_is_a_conflict)
{
    struct driver *d = *state;
    struct reserve_request q = request_on(INTERCONNECT_NONE, "a", key_a);
    driver_up(d);
    q.tasks_per_node = 8;
    q.cpus_per_task = 4;
    driver_reserve(d, q);
    assert_int_equal(driver_answer(d)->reservation->tasks_per_node, 8);
    assert_int_equal(driver_answer(d)->reservation->cpus_per_task, 4);
    q.interconnect = -1; /* as the cluster's: the same as what the job has */
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    static const struct {
        int interconnect;
        uint32_t tasks, cpus;
        const char *field;
    } others[] = {{INTERCONNECT_SLINGSHOT, 8, 4, "interconnect"},
                  {INTERCONNECT_NONE, 9, 4, "tasks_per_node"},
                  {INTERCONNECT_NONE, 8, 0, "cpus_per_task"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        q.interconnect = others[i].interconnect;
        q.tasks_per_node = others[i].tasks;
        q.cpus_per_task = others[i].cpus;
        driver_reserve(d, q);
        assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
        assert_string_equal(driver_answer(d)->field, others[i].field);
    }
}

/* What the fabric itself uses is no job's. */
FRESH(pool__without_the_fabrics_own_keys)
{
    struct driver *d = *state;
    static const uint16_t wrong[] = {0, 0x7fff, 0x8001, 0xffff};
    struct error err;
    give_pkeys(d, 1, 0x7ffe);
    assert_int_equal(core_config_check(&d->config, &err), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        idset_add(&d->config.omnipath.pkeys, wrong[i]);
        assert_int_equal(core_config_check(&d->config, &err), ERROR_INVALID);
        idset_remove(&d->config.omnipath.pkeys, wrong[i]);
    }
}

FRESH(words__go_there_and_back)
{
    for (int kind = 0; kind < INTERCONNECT_COUNT; kind++)
        assert_int_equal(interconnect_from_word(interconnect_word(kind)), kind);
    assert_int_equal(interconnect_from_word("infiniband"), -1);
}

UNIT_RUN(NULL, NULL)
