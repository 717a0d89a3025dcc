/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

#include "core/inventory/nodenics.h"

/* P2, P5: what a node tells of its NICs is kept, and a change is published once. */

#define ONE "cxi0,4608,200000,1,A1,1.5"
#define OTHER "cxi0,4608,200000,1,B2,1.5"

static void start(struct driver *d)
{
    driver_init(d);
    d->now = INT64_C(1790000000000);
    driver_start(d);
}
DRIVER_FIXTURE(start_driver, start)

static enum answer_kind tell(struct driver *d, const char *node, const char *nics, uint64_t order)
{
    DRIVER_ASK(d, CORE_NODE_NICS, nics, .node = node, .nics = nics, .order = order);
    return driver_answered(d);
}

static enum answer_kind forget(struct driver *d, const char *node)
{
    DRIVER_ASK(d, CORE_FORGET_NICS, nics, .node = node);
    return driver_answered(d);
}

#define BEGUN(test) WITH(start_driver, test)

BEGUN(report__first_is_saved_and_no_event)
{
    struct driver *d = *state;
    assert_int_equal(tell(d, "n1", ONE, 10), ANSWER_REPORTED);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 1);
    const struct record *record = &driver_find(d, EFFECT_SAVE)->u.record;
    assert_int_equal(record->kind, RECORD_NODE_NICS);
    assert_string_equal(record->u.nics.node, "n1");
    assert_string_equal(record->u.nics.nics, ONE);
    assert_int_equal(record->u.nics.order, 10);
    assert_int_equal(record->u.nics.changed_ms, d->now);
    assert_string_equal(core_node_nics(d->core, "n1")->nics, ONE);
    assert_null(core_node_nics(d->core, "n2"));
    assert_string_equal(core_node_nics_after(d->core, "")->node, "n1");
}

BEGUN(report__of_the_same_saves_nothing)
{
    struct driver *d = *state;
    tell(d, "n1", ONE, 10);
    d->now += 5000;
    assert_int_equal(tell(d, "n1", ONE, 11), ANSWER_REPORTED);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    assert_int_equal(core_node_nics(d->core, "n1")->changed_ms, d->now - 5000);
    /* One that was under way since before comes late. */
    assert_int_equal(tell(d, "n1", OTHER, 10), ANSWER_REPORTED);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    assert_string_equal(core_node_nics(d->core, "n1")->nics, ONE);
}

BEGUN(report__of_a_change_is_an_event_once)
{
    struct driver *d = *state;
    tell(d, "n1", ONE, 10);
    assert_int_equal(tell(d, "n1", OTHER, 11), ANSWER_REPORTED);
    assert_int_equal(driver_events(d, EVENT_NIC_REPLACED), 1);
    const struct event_record *event = driver_find(d, EFFECT_EVENT)->u.event;
    assert_null(event->cluster);
    assert_string_equal(event->detail, "node n1: cxi0 was replaced (serial number B2, before A1)");
    assert_int_equal(tell(d, "n1", OTHER, 12), ANSWER_REPORTED);
    assert_int_equal(driver_count(d, EFFECT_EVENT), 0);
    tell(d, "n1", "", 13);
    assert_int_equal(driver_events(d, EVENT_NICS_CHANGED), 1);
}

BEGUN(report__of_a_node_that_flaps_is_limited_and_said_once)
{
    struct driver *d = *state;
    tell(d, "n1", ONE, 1);
    for (uint64_t i = 2; i <= 9; i++)
        assert_int_equal(tell(d, "n1", i % 2 ? ONE : OTHER, i), ANSWER_REPORTED);
    assert_int_equal(tell(d, "n1", OTHER, 10), ANSWER_TOO_OFTEN);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    assert_int_equal(driver_count(d, EFFECT_TRACE), 1);
    assert_int_equal(tell(d, "n1", OTHER, 11), ANSWER_TOO_OFTEN);
    assert_int_equal(driver_count(d, EFFECT_TRACE), 0);
    assert_int_equal(tell(d, "n1", ONE, 12), ANSWER_REPORTED); /* as it is known */
    tell(d, "n2", ONE, 1);
    assert_int_equal(tell(d, "n2", OTHER, 2), ANSWER_REPORTED); /* others are not */
    d->now += 600 * 1000;
    assert_int_equal(tell(d, "n1", OTHER, 13), ANSWER_REPORTED);
    assert_string_equal(core_node_nics(d->core, "n1")->nics, OTHER);
}

BEGUN(report__of_more_nodes_than_find_room_is_refused)
{
    struct driver *d = *state;
    char node[16];
    for (int i = 0; i < NODENICS_NODES_MAX; i++) {
        snprintf(node, sizeof node, "n%d", i);
        assert_int_equal(tell(d, node, "", 1), ANSWER_REPORTED);
    }
    assert_int_equal(tell(d, "one-more", "", 1), ANSWER_TOO_MANY_NODES);
    assert_non_null(strstr(driver_answer(d)->detail, "mcastctl nodes --forget"));
    assert_int_equal(forget(d, "one-more"), ANSWER_NOT_FOUND);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    assert_int_equal(forget(d, "n8"), ANSWER_FORGOTTEN);
    assert_int_equal(driver_find(d, EFFECT_SAVE)->u.record.kind, RECORD_NODE_NICS_GONE);
    assert_null(core_node_nics(d->core, "n8"));
    assert_string_equal(core_node_nics(d->core, "n9")->node, "n9");
    assert_int_equal(tell(d, "one-more", "", 1), ANSWER_REPORTED);
    assert_int_equal(tell(d, "n7", ONE, 2), ANSWER_REPORTED);
}

BEGUN(report__comes_back_from_the_disk)
{
    struct driver *d = *state;
    core_destroy(d->core);
    d->core = core_create(&d->config);
    const struct record record = {.kind = RECORD_NODE_NICS, .u.nics = {"n1", ONE, 10, 7}};
    assert_int_equal(core_load(d->core, &record, NULL), 0);
    core_start(d->core, d->now);
    assert_string_equal(core_node_nics(d->core, "n1")->nics, ONE);
    assert_int_equal(tell(d, "n1", ONE, 11), ANSWER_REPORTED);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    assert_int_equal(tell(d, "n1", OTHER, 12), ANSWER_REPORTED);
    assert_int_equal(driver_events(d, EVENT_NIC_REPLACED), 1);
}

UNIT_RUN(NULL, NULL)
