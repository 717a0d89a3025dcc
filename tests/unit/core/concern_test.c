/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

#include "core/inventory/inventory.h"

/* P5: which running jobs a change of the fabric, or of a node's NICs, concerns. Node n1 has its NIC
 * at g0s0p2 by the site's file, n2 at g0s1p2, n3 at g1s0p2; n9 has told that it has one at g1s0p3.
 */

static struct nicbook *book(void)
{
    static const struct {
        const char *node;
        uint32_t group, number;
    } places[] = {{"n1", 0, 0}, {"n2", 0, 1}, {"n3", 1, 0}};
    struct nicbook *book = nicbook_create();
    for (size_t i = 0; i < 3; i++) {
        const struct nic nic = {.address = dfa_of(places[i].group, places[i].number, 2)};
        assert_int_equal(nicbook_add(book, places[i].node, &nic, NULL), 0);
    }
    nicbook_finish(book);
    return book;
}

static struct fabricmap *map(void)
{
    static const uint32_t places[][2] = {{0, 0}, {0, 1}, {1, 0}};
    struct fabric_read read = {0};
    read.switches.all = calloc(3, sizeof *read.switches.all);
    read.ports.all = calloc(3, sizeof *read.ports.all);
    read.switches.count = read.ports.count = 3;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t dfa = dfa_of(places[i][0], places[i][1], 0);
        read.switches.all[i] = (struct fabric_switch){.place = dfa_place(dfa), .name = "x"};
        read.ports.all[i] = (struct fabric_port){.name = i, .dfa = dfa};
    }
    struct fabricmap *map = fabricmap_create(&read, NULL);
    fabric_read_release(&read);
    assert_non_null(map);
    return map;
}

static void begin(struct driver *d)
{
    driver_init(d);
    d->config.nics = book();
    driver_start(d);
}

static void end(struct driver *d)
{
    core_destroy(d->core);
    nicbook_destroy((struct nicbook *)(uintptr_t)d->config.nics);
}

static void run(struct driver *d, const char *job, const char *nodes)
{
    struct reserve_request request = driver_request(job, 1);
    uint32_t count = 0;
    assert_int_equal(nodelist_count(nodes, &count, NULL), 0);
    request.nodes = nodes;
    request.node_count = count;
    request.wish = WISH_OFF;
    driver_reserve(d, request);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

static void change(struct driver *d, const struct fabric_change *changes, size_t count)
{
    static const struct fabric_sum sum;
    struct fabricmap *now = map();
    DRIVER_STEP(d, CORE_FABRIC, fabric, .map = now, .changes = changes, .count = count,
                .sum = &sum);
    fabricmap_destroy(now);
}

/* Ticks until there is nothing more to do. The events about jobs that came since `after`, as
 * "job: detail|". */
static const char *told(struct driver *d, uint64_t after)
{
    static char text[4096];
    size_t used = 0;
    int ticks = 0;
    text[0] = '\0';
    for (; core_next_deadline(d->core) <= d->now; ticks++)
        driver_tick(d, 0);
    assert_in_range(ticks, 0, 100);
    for (uint64_t seq = after + 1; seq <= core_last_seq(d->core); seq++) {
        const struct event_record *event = core_event_at(d->core, seq);
        if (event->kind != EVENT_JOB_FABRIC)
            continue;
        assert_string_equal(event->cluster, "elcap");
        assert_int_equal(event->uid, 5588);
        assert_true(event->number > 0);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s: %s|", event->job, event->detail);
    }
    return text;
}

UNIT(switch_down__is_told_to_the_jobs_at_it)
{
    struct driver d;
    (void)state;
    begin(&d);
    run(&d, "a", "n[1-2]");
    run(&d, "b", "n2");
    run(&d, "c", "n3");
    run(&d, "over", "n1");
    driver_release(&d, "over");
    const uint64_t before = core_last_seq(d.core);
    change(&d, &(struct fabric_change){FABRIC_SWITCH_DOWN, FABRIC_DOWN, dfa_of(0, 0, 0), 0}, 1);
    assert_string_equal(told(&d, before), "a: job a of elcap, on n1: switch g0s0 (x) is down|");
    end(&d);
}

UNIT(cable_and_port__are_told_to_the_jobs_at_their_ends)
{
    struct driver d;
    (void)state;
    begin(&d);
    run(&d, "a", "n1");
    run(&d, "b", "n[2-3]");
    run(&d, "other", "n4");
    const uint64_t before = core_last_seq(d.core);
    const struct fabric_change both[] = {
        {FABRIC_CABLE_DOWN, FABRIC_DOWN, dfa_of(0, 1, 0), dfa_of(1, 0, 0)},
        {FABRIC_PORT_CHANGED, FABRIC_DOWN, dfa_of(0, 0, 2), 0},
        {FABRIC_PORT_CHANGED, FABRIC_DOWN, dfa_of(0, 0, 3), 0}, /* of another NIC */
    };
    change(&d, both, 3);
    assert_string_equal(
        told(&d, before),
        "a: job a of elcap, on n1: port g0s0p2, of the NIC with address 0x00002, is down|"
        "b: job b of elcap, on n[2-3]: cable g0s1p0-g1s0p0 is down|");
    end(&d);
}

static void tell(struct driver *d, uint64_t order, const char *nics)
{
    DRIVER_ASK(d, CORE_NODE_NICS, nics, .node = "n9", .nics = nics, .order = order);
    assert_int_equal(driver_answered(d), ANSWER_REPORTED);
}

/* What a node tells is believed before the file, and its own changes concern its jobs, too. */
UNIT(nic__is_told_to_the_jobs_of_its_node)
{
    struct driver d;
    char nics[64];
    (void)state;
    begin(&d);
    run(&d, "a", "n1");
    run(&d, "b", "n[8-9]");
    snprintf(nics, sizeof nics, "cxi0,%u,200000,1,S1,", dfa_of(1, 0, 3) >> 12);
    tell(&d, 1, nics);
    assert_string_equal(told(&d, 0), "");
    const uint64_t before = core_last_seq(d.core);
    nics[strlen(nics) - 5] = '0';
    tell(&d, 2, nics);
    const struct fabric_change port = {FABRIC_PORT_CHANGED, FABRIC_DOWN, dfa_of(1, 0, 3), 0};
    change(&d, &port, 1);
    assert_string_equal(told(&d, before),
                        "b: job b of elcap, on n9: node n9: cxi0 has its link down; "
                        "port g1s0p3, of the NIC with address 0x00803, is down|");
    end(&d);
}

/* One event a job, however much changes, and not all of it by name. */
UNIT(much_at_once__is_one_event_a_job)
{
    struct fabric_change changes[12];
    struct driver d;
    (void)state;
    begin(&d);
    run(&d, "a", "n[1-2]");
    for (size_t i = 0; i < 12; i++)
        changes[i] = (struct fabric_change){FABRIC_CABLE_UP, FABRIC_UP, dfa_of(0, 0, (uint32_t)i),
                                            dfa_of(0, 1, (uint32_t)i)};
    const uint64_t before = core_last_seq(d.core);
    for (size_t i = 0; i < 30; i++) /* the last ones find no room */
        change(&d, changes, 12);
    const char *text = told(&d, before);
    assert_words(text,
                 "job a of elcap, on n[1-2]: cable g0s0p0-g0s1p0 is up; cable g0s0p1-g0s1p1 ");
    assert_words(text, "; 252 more changes|");
    assert_string_equal(strchr(text, '|'), "|");
    end(&d);
}

UNIT_RUN(NULL, NULL)
