/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interconnect/interconnect.h"
#include "core/relay/relay.h"
#include "tests/unit/core/driver.h"

/* B9: a Slurm with its own plugin takes this broker for the fabric manager. Its step fails unless
 * it gets a token at once, so it gets one whatever the fabric manager does. */

#define KEY "0123456789abcdef0123456789abcdef"
#define BODY "{\"macs\":[\"0:00:01\"]}"

static void start(struct driver *d)
{
    driver_init(d);
    d->config.relay_timeout_ms = 60 * 1000;
    d->config.addresses_per_job = 23;
    driver_up(d);
}
DRIVER_FIXTURE(serving, start)

static void ask(struct driver *d, const char *job, uint32_t limit)
{
    const struct reserve_request request = {.cluster = "elcap",
                                            .job = job,
                                            .uid = UID_UNKNOWN,
                                            .interconnect = INTERCONNECT_SLINGSHOT,
                                            .wish = WISH_ON,
                                            .by_plugin = true,
                                            .limit = limit,
                                            .key = secret_of(KEY)};
    driver_reserve(d, request);
}

static void delete (struct driver *d, const char *job)
{
    DRIVER_ASK(d, CORE_RELEASE, release, .cluster = "elcap", .job = job, .by_plugin = true);
}

static void looks_at(struct driver *d, uint64_t number)
{
    driver_step(d, (struct core_event){.kind = CORE_ALIVE, .u.alive = number});
}

static void join(struct driver *d, uint16_t vni)
{
    DRIVER_ASK(d, CORE_JOIN, join, .number = 1, .step = "0", .vni = vni, .body = BODY);
}

#define T(test) WITH(serving, test)

/* F21: the fabric manager may take as long as it likes. */
T(plugin__has_its_token_at_once)
{
    struct driver *d = *state;
    ask(d, "7", 16);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    const struct reservation *r = driver_answer(d)->reservation;
    assert_string_equal(secret_expose(r->key), KEY);
    assert_true(reservation_relayed(r));
    assert_int_equal(r->origin, ORIGIN_PLUGIN);
    assert_int_equal(r->addresses, 16);
    assert_int_equal(r->vni_count, 0);
    assert_int_equal(r->uid, UID_UNKNOWN);
    const uint64_t call = driver_call(d, FMCALL_RESERVE);
    join(d, 40); /* waits for it, and goes on with the fabric manager's own token */
    assert_null(driver_answer(d));
    driver_done(d, call, FM_OK, "sess-7");
    driver_call(d, FMCALL_JOIN);
    assert_string_equal(secret_expose(driver_find(d, EFFECT_CALL)->u.call.about.token), "sess-7");
}

T(plugin__has_no_more_than_a_job_gets_here)
{
    static const struct {
        uint32_t wanted, got;
    } cases[] = {{0, 23}, {1, 1}, {23, 23}, {24, 23}, {8192, 23}};
    struct driver *d = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char job[8];
        (void)snprintf(job, sizeof job, "%zu", i);
        ask(d, job, cases[i].wanted);
        assert_int_equal(driver_answered(d), ANSWER_CREATED);
        assert_int_equal(driver_job(d, job)->addresses, cases[i].got);
    }
}

T(plugin__may_be_refused_more_than_a_job_gets_here)
{
    struct driver *d = *state;
    d->config.clusters[0].limit_refused = true;
    driver_configure(d);
    ask(d, "7", 24);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "mcastLimit");
    assert_null(driver_job(d, "7"));
    ask(d, "7", 23);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* B4: no addresses are left: the step starts, and its joins are told to do without. */
T(plugin__without_addresses_has_a_token_all_the_same)
{
    struct driver *d = *state;
    d->config.clusters[0].budget = 20;
    driver_configure(d);
    ask(d, "7", 23);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_job(d, "7")->hwcoll, HWCOLL_DENIED);
    assert_string_equal(secret_expose(driver_job(d, "7")->key), KEY);
    assert_null(driver_find(d, EFFECT_CALL));
    join(d, 40);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    assert_int_equal(driver_answer(d)->status, 507);
    delete (d, "7");
    assert_int_equal(driver_answered(d), ANSWER_ALREADY_GONE);
    assert_null(driver_job(d, "7"));
}

/* Nobody says how many addresses a job gets: neither the site nor Slurm. Nor does a start refuse
 * such a reservation. */
T(plugin__without_a_size_has_a_token_all_the_same)
{
    struct driver *d = *state;
    d->config.addresses_per_job = d->config.min_nodes = 0;
    driver_configure(d);
    ask(d, "7", 0);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_job(d, "7")->hwcoll, HWCOLL_INELIGIBLE);
    assert_string_equal(secret_expose(driver_job(d, "7")->key), KEY);
    join(d, 40);
    assert_int_equal(driver_answered(d), ANSWER_JOIN_DENIED);
    const struct record saved = {.kind = RECORD_RESERVATION,
                                 .u.reservation = reservation_record(driver_job(d, "7"))};
    struct core *next = core_create(&d->config);
    assert_int_equal(core_load(next, &saved, NULL), 0);
    core_destroy(next);
}

/* F20: a job that starts again under its id, its DELETE lost, only looks at what it has: lists of
 * jobs that were made before it started do not end it, those after it do. */
T(plugin__that_looks_shows_that_its_job_runs)
{
    struct driver *d = *state;
    ask(d, "7", 16);
    for (int looked = 1; looked >= 0; looked--) {
        const int64_t pause_ms = d->config.sync_grace_ms + 1;
        driver_tick(d, pause_ms);
        DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap");
        driver_tick(d, pause_ms);
        if (looked)
            looks_at(d, 1);
        DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap");
        assert_int_equal(driver_job(d, "7")->state == JOB_ACTIVE, looked);
    }
    looks_at(d, 1); /* of one that is over */
    looks_at(d, 99);
}

/* F23: without a link, too. */
T(plugin__starts_while_the_link_is_down)
{
    struct driver *d = *state;
    driver_tick(d, d->config.relist_ms);
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = driver_find(d, EFFECT_LIST)->u.list.id,
                .outcome = FM_UNREACHED);
    assert_int_not_equal(driver_status(d).link, LINK_UP);
    ask(d, "7", 16);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_job(d, "7")->hwcoll, HWCOLL_WANTED);
    assert_null(driver_find(d, EFFECT_CALL));
}

/* Its steps ask each for itself, by GET and POST. */
T(plugin__gets_the_same_again)
{
    struct driver *d = *state;
    ask(d, "7", 16);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-7");
    ask(d, "7", 8);
    assert_int_equal(driver_answered(d), ANSWER_SAME);
    assert_int_equal(driver_answer(d)->reservation->number, 1);
    assert_int_equal(driver_answer(d)->reservation->addresses, 16);
}

/* Hooks and plugin for one job: neither may end what the other has made. */
T(plugin__and_hooks_do_not_share_a_job)
{
    struct driver *d = *state;
    driver_reserved_job(d, "7");
    ask(d, "7", 16);
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    delete (d, "7");
    assert_int_equal(driver_answered(d), ANSWER_ALREADY_GONE);
    assert_int_equal(driver_job(d, "7")->state, JOB_ACTIVE);
    ask(d, "8", 16);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    driver_reserve(d, driver_request("8", 128));
    assert_int_equal(driver_answered(d), ANSWER_CONFLICT);
    assert_non_null(strstr(driver_answer(d)->detail, "plugin"));
}

/* It deletes every job, also those that it never reserved, and may reserve one of them anew at
 * once: a requeued job keeps its id. */
T(plugin__deletes_what_was_never_there)
{
    struct driver *d = *state;
    delete (d, "7");
    assert_int_equal(driver_answered(d), ANSWER_ALREADY_GONE);
    ask(d, "7", 16);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-7");
    delete (d, "7");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    const uint64_t release = driver_call(d, FMCALL_RELEASE);
    ask(d, "7", 16); /* the next run waits for nothing; its reserve does, for the name */
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_null(driver_find(d, EFFECT_CALL));
    driver_done(d, release, FM_OK, NULL);
    driver_call(d, FMCALL_RESERVE);
}

/* Which VNIs that Slurm gives is not known. What another job has here is not one of them. */
T(plugin__makes_no_tree_with_the_vni_of_another_job)
{
    struct driver *d = *state;
    ask(d, "7", 16);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-7");
    driver_reserve(d, driver_request("other", 1));
    const uint16_t taken = driver_job(d, "other")->vnis[0];
    join(d, taken);
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
    join(d, 1); /* the system's */
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
    join(d, 10);
    assert_int_equal(driver_answered(d), ANSWER_OUTSIDE);
    join(d, (uint16_t)(taken + 1)); /* of the pool, and nobody's */
    driver_call(d, FMCALL_JOIN);
}

static void note(void *arg, const char *name, const char *value)
{
    char *text = arg;
    (void)value;
    (void)snprintf(text + strlen(text), 512 - strlen(text), "%s ", name);
}

/* F16: Slurm tells its tasks numbers of its own, and no CA. */
T(plugin__environment_has_what_its_tasks_have)
{
    struct driver *d = *state;
    char names[512] = "";
    ask(d, "7", 16);
    environment_each(&d->config, "https://fmn", driver_job(d, "7"), "0", note, names);
    assert_string_equal(names, "FI_CXI_COLL_JOB_ID FI_CXI_COLL_JOB_STEP_ID "
                               "FI_CXI_COLL_MCAST_TOKEN FI_CXI_COLL_FABRIC_MGR_URL ");
}

/* B11: before, this Slurm reserved at the fabric manager itself. What is there stays until Slurm
 * says that the job is over; it knows its jobs, and no other has the cluster's login. */
T(plugin__deletes_what_was_found_under_the_name)
{
    static const char *const names[] = {"elcap-7"};
    struct driver *d = *state;
    for (int seen = 0; seen < 2; seen++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, names, 1, FM_OK);
    }
    assert_true(reservation_adopted(driver_job(d, "7")));
    ask(d, "7", 16); /* another step of it */
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_job(d, "7")->hwcoll, HWCOLL_DENIED);
    assert_null(driver_find(d, EFFECT_CALL));
    delete (d, "7");
    driver_call(d, FMCALL_RELEASE);
}

T(plugin__deletes_what_was_found_and_never_asked_for)
{
    static const char *const names[] = {"elcap-7"};
    struct driver *d = *state;
    for (int seen = 0; seen < 2; seen++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, names, 1, FM_OK);
    }
    delete (d, "7");
    assert_int_equal(driver_answered(d), ANSWER_ACCEPTED);
    driver_call(d, FMCALL_RELEASE);
}

UNIT_RUN(NULL, NULL)
