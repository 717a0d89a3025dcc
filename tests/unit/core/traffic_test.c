/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* P6: what nodes tell of a job's traffic is summed once for each, and kept after the job. */

static struct traffic_report counted(uint64_t octets, uint64_t paused)
{
    return (struct traffic_report){.amounts = {octets, 2 * octets, 3, 4, paused},
                                   .seconds = 60,
                                   .slowest = "cxi1",
                                   .slowest_octets = octets,
                                   .congested = "cxi0",
                                   .congested_paused = paused};
}

static void tell_as(struct driver *d, const char *job, uint64_t number, const char *node,
                    enum node_state state, const struct traffic_report *traffic)
{
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = job, .number = number,
               .node = node, .state = state, .traffic = traffic);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
}

static void tell(struct driver *d, const char *node, enum node_state state,
                 const struct traffic_report *traffic)
{
    tell_as(d, "a", 1, node, state, traffic);
}

static void reserve_as(struct driver *d, const char *job, uint32_t uid)
{
    struct reserve_request request = driver_request(job, 2);
    request.nodes = "n[1-2]";
    request.uid = uid;
    request.wish = WISH_OFF;
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

static void start(struct driver *d)
{
    driver_init(d);
    d->now = INT64_C(1790000000000);
    driver_up(d);
    reserve_as(d, "a", 5588);
}
DRIVER_FIXTURE(start_driver, start)

static const struct traffic_record *known(const struct driver *d, const char *job)
{
    const struct reservation *r;
    return core_traffic(d->core, "elcap", job, &r);
}

#define BEGUN(test) WITH(start_driver, test)

static void tell_sum(struct driver *d, const char *nodes, uint32_t told, uint64_t octets)
{
    const struct traffic_record traffic = {.amounts = {octets, 2 * octets, 3, 4, 0},
                                           .told = told,
                                           .shared = 1,
                                           .seconds = 90,
                                           .lacking = 1 << TRAFFIC_PAUSED,
                                           .slowest = "n2/cxi0",
                                           .slowest_octets = 7};
    DRIVER_ASK(d, CORE_NODE_SUM, sum, .cluster = "elcap", .job = "a", .number = 1, .nodes = nodes,
               .state = NODE_DESTROYED, .traffic = &traffic);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
}

/* One report of many nodes has what they counted: once, also when the report is repeated (G20). */
BEGUN(sum_of_nodes__counts_once)
{
    struct driver *d = *state;
    const struct traffic_report one = counted(100, 9);
    tell(d, "n1", NODE_CREATED, NULL);
    tell_sum(d, "n[1-2]", 2, 1000);
    const struct traffic_record *sum = known(d, "a");
    assert_int_equal(sum->told, 2);
    assert_int_equal(sum->amounts[TRAFFIC_TX_OCTETS], 1000);
    assert_int_equal(sum->amounts[TRAFFIC_RX_OCTETS], 2000);
    assert_int_equal(sum->lacking, 1 << TRAFFIC_PAUSED);
    assert_int_equal(sum->shared, 1);
    assert_int_equal(sum->seconds, 90);
    assert_string_equal(sum->slowest, "n2/cxi0");
    assert_null(sum->congested);
    tell_sum(d, "n[1-2]", 2, 1000);
    tell(d, "n1", NODE_DESTROYED, &one); /* whom the answer did not reach */
    tell(d, "n2", NODE_DESTROYED, &one);
    assert_int_equal(known(d, "a")->told, 2);
    assert_int_equal(known(d, "a")->amounts[TRAFFIC_TX_OCTETS], 1000);
}

BEGUN(sum_of_nodes__beside_a_nodes_own_word)
{
    struct driver *d = *state;
    const struct traffic_report one = counted(100, 9);
    tell(d, "n1", NODE_DESTROYED, &one);
    tell_sum(d, "n[1-2]", 2, 1000); /* whose of it n1 has told is not known */
    assert_int_equal(known(d, "a")->told, 1);
    tell_sum(d, "n2", 2, 1000); /* more than it names */
    assert_int_equal(known(d, "a")->told, 1);
}

BEGUN(nodes__count_once)
{
    struct driver *d = *state;
    const struct reservation *r;
    const struct traffic_report first = counted(100, 7), second = counted(50, 7);
    tell(d, "n1", NODE_CREATED, &first); /* has not ended */
    assert_null(core_traffic(d->core, "elcap", "a", &r));
    assert_non_null(r);
    tell(d, "n1", NODE_LINGERING, &first);
    tell(d, "n1", NODE_LINGERING, &first);
    tell(d, "n1", NODE_DESTROYED, &first);
    const struct traffic_record *sum = known(d, "a");
    assert_int_equal(sum->told, 1);
    assert_int_equal(sum->amounts[TRAFFIC_TX_OCTETS], 100);
    assert_string_equal(sum->slowest, "n1/cxi1");
    tell(d, "n2", NODE_DESTROYED, &second);
    sum = known(d, "a");
    assert_int_equal(sum->told, 2);
    assert_int_equal(sum->amounts[TRAFFIC_TX_OCTETS], 150);
    assert_int_equal(sum->amounts[TRAFFIC_RX_OCTETS], 300);
    assert_int_equal(sum->amounts[TRAFFIC_PAUSED], 14);
    assert_string_equal(sum->slowest, "n2/cxi1");
    assert_string_equal(sum->congested, "n1/cxi0"); /* alike: the first by name */
    assert_int_equal(sum->congested_paused, 7);
    assert_int_equal(driver_status(d).traffic.amounts[TRAFFIC_TX_OCTETS], 150);
    assert_int_equal(driver_status(d).traffic.reports, 2);
    /* It begins there once more. */
    tell(d, "n2", NODE_CREATED, NULL);
    tell(d, "n2", NODE_DESTROYED, &second);
    assert_int_equal(known(d, "a")->told, 3);
}

/* Whatever comes first. */
UNIT(sum__does_not_depend_on_the_order)
{
    (void)state;
    struct traffic_record *forth = NULL, *back = NULL;
    const struct {
        const char *node;
        struct traffic_report told;
    } nodes[] = {{"n10", counted(5, 9)},
                 {"n9", counted(5, 9)},
                 {"n2", counted(6, 8)},
                 {"n1", {.lacking = 1 << TRAFFIC_PAUSED, .unclear = 2, .shared = true}}};
    for (int i = 0; i < 4; i++) {
        traffic_add(&forth, nodes[i].node, &nodes[i].told);
        traffic_add(&back, nodes[3 - i].node, &nodes[3 - i].told);
    }
    assert_string_equal(forth->slowest, "n9/cxi1");
    assert_string_equal(forth->congested, "n9/cxi0");
    assert_string_equal(back->slowest, forth->slowest);
    assert_string_equal(back->congested, forth->congested);
    assert_memory_equal(back->amounts, forth->amounts, sizeof back->amounts);
    assert_int_equal(forth->lacking, 1 << TRAFFIC_PAUSED);
    assert_int_equal(forth->unclear, 2);
    assert_int_equal(forth->shared, 1);
    traffic_destroy(forth);
    traffic_destroy(back);
}

/* Nodes that lie: no number that the ledger does not take. */
UNIT(sum__stays_a_number)
{
    (void)state;
    struct traffic_record *sum = NULL;
    struct traffic_report lie = {.seconds = UINT32_MAX, .unclear = 16, .slowest_octets = INT64_MAX};
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        lie.amounts[kind] = INT64_MAX;
    for (int i = 0; i < 3; i++)
        traffic_add(&sum, "n1", &lie);
    assert_int_equal(sum->amounts[TRAFFIC_PAUSED], INT64_MAX);
    assert_int_equal(sum->seconds, UINT32_MAX);
    traffic_destroy(sum);
}

static void end_job(struct driver *d, const char *job, uint64_t number)
{
    const struct traffic_report some = counted(number, 1);
    tell_as(d, job, number, "n1", NODE_DESTROYED, &some);
    tell_as(d, job, number, "n2", NODE_DESTROYED, &some);
    driver_release(d, job);
    assert_null(driver_job(d, job));
}

static const struct record *saved(const struct driver *d, enum record_kind kind)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++)
        if (effects[i].kind == EFFECT_SAVE && effects[i].u.record.kind == kind)
            return &effects[i].u.record;
    return NULL;
}

BEGUN(job__that_is_over_is_one_row)
{
    struct driver *d = *state;
    end_job(d, "a", 1);
    const struct record *row = saved(d, RECORD_TRAFFIC);
    assert_non_null(row);
    assert_int_equal(row->u.traffic.seq, 1);
    assert_int_equal(row->u.traffic.number, 1);
    assert_int_equal(row->u.traffic.uid, 5588);
    assert_int_equal(row->u.traffic.node_count, 2);
    assert_string_equal(row->u.traffic.slowest, "n1/cxi1");
    const struct traffic_record *sum = known(d, "a");
    assert_string_equal(sum->job, "a");
    assert_int_equal(sum->told, 2);
    assert_int_equal(sum->ended_ms, d->now);
    d->now += d->config.traffic_keep_ms + 1;
    DRIVER_STEP(d, CORE_TICK, names, .count = 0);
    assert_null(known(d, "a")); /* too old to be shown, */
    reserve_as(d, "b", 5588);
    end_job(d, "b", 2);
    assert_int_equal(saved(d, RECORD_TRAFFIC_GONE)->u.traffic_gone, 1); /* and gone */
}

BEGUN(job__without_traffic_is_no_row)
{
    struct driver *d = *state;
    tell(d, "n1", NODE_DESTROYED, NULL);
    tell(d, "n2", NODE_DESTROYED, NULL);
    driver_release(d, "a");
    assert_null(saved(d, RECORD_TRAFFIC));
    d->config.traffic_keep_ms = 0;
    driver_configure(d);
    reserve_as(d, "b", 5588);
    end_job(d, "b", 2);
    assert_null(saved(d, RECORD_TRAFFIC));
}

/* One user's jobs do not push out the others'. */
BEGUN(users__are_kept_apart)
{
    struct driver *d = *state;
    char job[24];
    uint64_t number = 1;
    d->config.traffic_jobs = 8;
    driver_configure(d);
    end_job(d, "a", number++);
    for (int i = 0; i < 20; i++) {
        snprintf(job, sizeof job, "flood%d", i);
        reserve_as(d, job, 77);
        end_job(d, job, number++);
    }
    assert_non_null(known(d, "a"));
    assert_non_null(known(d, "flood19"));
    assert_non_null(known(d, "flood18"));
    assert_null(known(d, "flood17"));
    for (uint32_t i = 0; i < 7; i++) { /* of seven more users: the oldest goes */
        snprintf(job, sizeof job, "u%u", i);
        reserve_as(d, job, 100 + i);
        end_job(d, job, number++);
    }
    assert_null(known(d, "a"));
    assert_non_null(known(d, "u0"));
}

BEGUN(rows__come_back_from_the_disk)
{
    struct driver *d = *state;
    core_destroy(d->core);
    d->core = core_create(&d->config);
    struct record row = {.kind = RECORD_TRAFFIC,
                         .u.traffic = {.seq = 9,
                                       .number = 7,
                                       .ended_ms = d->now - 1000,
                                       .told = 3,
                                       .cluster = "elcap",
                                       .job = "old"}};
    assert_int_equal(core_load(d->core, &row, NULL), 0);
    assert_int_equal(core_load(d->core, &row, NULL), ERROR_CORRUPT);
    core_start(d->core, d->now);
    assert_int_equal(known(d, "old")->told, 3);
}

UNIT_RUN(NULL, NULL)
