/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

#include "core/inventory/fabricmap.h"

/* The map of the fabric (P1), and what differs between two (P5). Two groups of two switches with
 * four ports each: ports 0 and 1 have cables, 2 and 3 are NICs' places. */

enum { SWITCHES = 4, PORTS = 16, CABLES = 4 };

struct fabric {
    struct fabric_switch switches[SWITCHES];
    struct fabric_port ports[PORTS];
    struct fabric_end_names cables[CABLES];
    size_t switch_count, port_count, cable_count;
};

static uint32_t dfa(unsigned s, unsigned port)
{
    return dfa_of(s / 2, s % 2, port);
}

static struct fabric whole(void)
{
    static const uint8_t ends[CABLES][2] = {{0, 4}, {8, 12}, {1, 9}, {5, 13}};
    struct fabric f = {.switch_count = SWITCHES, .port_count = PORTS, .cable_count = CABLES};
    for (unsigned i = 0; i < SWITCHES; i++) {
        f.switches[i].place = dfa_place(dfa(i, 0));
        f.switches[i].state = FABRIC_UP;
        snprintf(f.switches[i].name, sizeof f.switches[i].name, "x%u", i);
    }
    for (unsigned i = 0; i < PORTS; i++)
        f.ports[i] = (struct fabric_port){
            .name = 100 + i, .dfa = dfa(i / 4, i % 4), .state = FABRIC_UP, .edge = i % 4 >= 2};
    for (unsigned i = 0; i < CABLES; i++)
        f.cables[i] = (struct fabric_end_names){.names = {100u + ends[i][0], 100u + ends[i][1]},
                                                .state = FABRIC_UP};
    return f;
}

static void *copy(const void *from, size_t count, size_t size)
{
    void *to = malloc(count * size + 1);
    memcpy(to, from, count * size);
    return to;
}

static struct fabricmap *map_of(const struct fabric *f, struct error *err)
{
    struct fabric_read read = {
        .switches = {copy(f->switches, f->switch_count, sizeof *f->switches), f->switch_count, 0},
        .ports = {copy(f->ports, f->port_count, sizeof *f->ports), f->port_count, 0},
        .cables = {copy(f->cables, f->cable_count, sizeof *f->cables), f->cable_count, 0}};
    struct fabricmap *map = fabricmap_create(&read, err);
    fabric_read_release(&read);
    return map;
}

static struct fabricmap *good(const struct fabric *f)
{
    struct error err = {0};
    struct fabricmap *map = map_of(f, &err);
    if (!map)
        fail_msg("%s", err.text);
    return map;
}

static void refused(const struct fabric *f, const char *words)
{
    struct error err = {0};
    assert_null(map_of(f, &err));
    assert_words(err.text, words);
}

static void address__is_group_switch_and_port(void **state)
{
    char name[FABRIC_ADDRESS_SIZE];
    (void)state;
    assert_int_equal(dfa_of(1, 0, 2), 8396800); /* as docs/mock-fm.md has it */
    fabric_port_format(name, dfa_of(511, 31, 63));
    assert_string_equal(name, "g511s31p63");
    fabric_switch_format(name, dfa_place(dfa_of(3, 12, 7)));
    assert_string_equal(name, "g3s12");
}

static void map__finds_by_address_switch_and_group(void **state)
{
    struct fabric f = whole();
    size_t count;
    (void)state;
    f.ports[6].state = FABRIC_DOWN;
    f.switches[3].state = FABRIC_DOWN;
    f.cables[2].state = FABRIC_DOWN;
    struct fabricmap *map = good(&f);
    assert_int_equal(fabricmap_edge(map, dfa(1, 2)), FABRIC_DOWN);
    assert_int_equal(fabricmap_edge(map, dfa(1, 3)), FABRIC_UP);
    assert_int_equal(fabricmap_edge(map, dfa(3, 3)), FABRIC_DOWN); /* its switch is */
    assert_int_equal(fabricmap_edge(map, dfa(1, 1)), -1);          /* a cable's */
    assert_int_equal(fabricmap_edge(map, dfa(1, 4)), -1);
    assert_int_equal(fabricmap_edge(map, dfa_of(7, 0, 2)), -1);
    assert_string_equal(fabricmap_switch(map, dfa_place(dfa(2, 0)))->name, "x2");
    assert_null(fabricmap_switch(map, dfa_place(dfa_of(0, 5, 0))));
    const struct fabric_switch *first = fabricmap_group(map, 1, &count);
    assert_int_equal(count, 2);
    assert_string_equal(first[1].name, "x3");
    assert_null(fabricmap_group(map, 2, &count));
    const struct fabric_counts *counts = fabricmap_counts(map);
    assert_int_equal(counts->groups, 2);
    assert_int_equal(counts->switches_down, 1);
    assert_int_equal(counts->edge_ports, 8);
    assert_int_equal(counts->edge_ports_down, 1);
    assert_int_equal(counts->cables, 4);
    assert_int_equal(counts->cables_down, 1);
    const struct fabric_cable *cables = fabricmap_cables(map, &count);
    assert_int_equal(cables[0].low, dfa(0, 0));
    assert_int_equal(cables[0].high, dfa(1, 0));
    fabricmap_destroy(map);
}

static void map__that_does_not_fit_together_is_none(void **state)
{
    struct fabric f = whole();
    (void)state;
    f.switch_count = 0;
    refused(&f, "there is no switch");
    f = whole();
    f.switch_count = 3;
    refused(&f, "port g1s1p0 is of no switch that is listed");
    f = whole();
    f.switches[1] = f.switches[0];
    refused(&f, "there are two switches g0s0");
    f = whole();
    f.ports[3].dfa = f.ports[2].dfa;
    refused(&f, "there are two ports g0s0p2");
    f = whole();
    f.port_count = 13;
    refused(&f, "a link has an end that is none of the 13 ports listed");
    f = whole();
    f.cables[1] = f.cables[0];
    refused(&f, "two links between the same ports");
}

static void change__is_listed_by_kind(void **state)
{
    struct fabric f = whole();
    struct fabric_change changes[16];
    struct fabric_sum sum;
    (void)state;
    struct fabricmap *old = good(&f);
    f.switches[0].state = FABRIC_DOWN;
    f.ports[2].state = FABRIC_DOWN; /* with its switch: not told */
    f.cables[0].state = FABRIC_DOWN;
    f.ports[10].state = FABRIC_DOWN; /* of another */
    f.cables[1].state = FABRIC_DOWN;
    f.ports[13].state = FABRIC_UNKNOWN; /* what is not known is no news */
    struct fabricmap *now = good(&f);
    assert_int_equal(fabricmap_diff(old, old, changes, 16, &sum), 0);
    assert_true(fabric_sum_empty(&sum));
    assert_int_equal(fabricmap_diff(old, now, changes, 16, &sum), 3);
    assert_true(fabric_sum_empty(&sum));
    assert_int_equal(changes[0].kind, FABRIC_SWITCH_DOWN);
    assert_int_equal(changes[0].low, dfa(0, 0));
    assert_int_equal(changes[1].kind, FABRIC_CABLE_DOWN);
    assert_int_equal(changes[1].high, dfa(3, 0));
    assert_int_equal(changes[2].kind, FABRIC_PORT_CHANGED);
    assert_int_equal(changes[2].low, dfa(2, 2));
    assert_int_equal(changes[2].state, FABRIC_DOWN);
    assert_int_equal(fabricmap_diff(now, old, changes, 16, &sum), 3);
    assert_int_equal(changes[0].kind, FABRIC_SWITCH_UP);
    assert_int_equal(changes[1].kind, FABRIC_CABLE_UP);
    fabricmap_destroy(old);
    fabricmap_destroy(now);
}

/* A switch that is back while a cable of it fails: both are told. */
static void change__against_that_of_the_switch_is_told(void **state)
{
    struct fabric f = whole();
    struct fabric_change changes[16];
    struct fabric_sum sum;
    (void)state;
    f.switches[0].state = FABRIC_DOWN;
    struct fabricmap *old = good(&f);
    f.switches[0].state = FABRIC_UP;
    f.cables[0].state = FABRIC_DOWN;
    f.ports[3].state = FABRIC_DOWN;
    struct fabricmap *now = good(&f);
    assert_int_equal(fabricmap_diff(old, now, changes, 16, &sum), 3);
    assert_int_equal(changes[0].kind, FABRIC_SWITCH_UP);
    assert_int_equal(changes[1].kind, FABRIC_CABLE_DOWN);
    assert_int_equal(changes[2].kind, FABRIC_PORT_CHANGED);
    fabricmap_destroy(old);
    fabricmap_destroy(now);
}

static void change__too_many_and_what_came_or_went_is_summed(void **state)
{
    struct fabric f = whole();
    struct fabric_change changes[1];
    struct fabric_sum sum;
    (void)state;
    struct fabricmap *old = good(&f);
    f.switches[0].state = FABRIC_DOWN;
    f.ports[10].state = f.ports[11].state = FABRIC_DOWN;
    f.cable_count = 3; /* and the last switch is gone */
    f.switch_count = 3;
    f.port_count = 12;
    f.cables[1].names[1] = 104;
    f.cables[1].names[0] = 109;
    struct fabricmap *now = good(&f);
    assert_int_equal(fabricmap_diff(old, now, changes, 1, &sum), 1);
    assert_int_equal(changes[0].kind, FABRIC_SWITCH_DOWN);
    assert_int_equal(sum.unlisted[FABRIC_PORT_CHANGED], 2);
    assert_int_equal(sum.switches_gone, 1);
    assert_int_equal(sum.ports_gone, 0); /* it tells them all */
    assert_int_equal(sum.cables_gone, 2);
    assert_int_equal(sum.cables_new, 1);
    fabricmap_destroy(old);
    fabricmap_destroy(now);
}

/* What the core makes of it: events in the log that is there (P5, F24). */
static void core__has_an_event_for_each_and_one_for_the_rest(void **state)
{
    struct fabric f = whole();
    struct fabric_change changes[2];
    struct fabric_sum sum;
    struct driver d;
    (void)state;
    driver_init(&d);
    driver_start(&d);
    struct fabricmap *old = good(&f);
    f.switches[0].state = FABRIC_DOWN;
    f.cables[1].state = FABRIC_DOWN;
    f.ports[10].state = f.ports[11].state = FABRIC_DOWN;
    struct fabricmap *now = good(&f);
    const size_t count = fabricmap_diff(old, now, changes, 2, &sum);
    DRIVER_STEP(&d, CORE_FABRIC, fabric, .map = now, .changes = changes, .count = count,
                .sum = &sum);
    const uint64_t last = core_last_seq(d.core);
    static const struct {
        enum event_kind kind;
        const char *detail;
    } told[] = {{EVENT_SWITCH_DOWN, "switch g0s0 (x0) is down"},
                {EVENT_CABLE_DOWN, "cable g1s0p0-g1s1p0 is down"},
                {EVENT_FABRIC_CHANGED, "2 more NICs' ports changed"}};
    for (unsigned i = 0; i < 3; i++) {
        const struct event_record *event = core_event_at(d.core, last - 2 + i);
        assert_non_null(event);
        assert_int_equal(event->kind, told[i].kind);
        assert_string_equal(event->detail, told[i].detail);
        assert_null(event->cluster);
    }
    fabricmap_destroy(old);
    fabricmap_destroy(now);
    core_destroy(d.core);
}

UNIT_MAIN(cmocka_unit_test(address__is_group_switch_and_port),
          cmocka_unit_test(map__finds_by_address_switch_and_group),
          cmocka_unit_test(map__that_does_not_fit_together_is_none),
          cmocka_unit_test(change__is_listed_by_kind),
          cmocka_unit_test(change__against_that_of_the_switch_is_told),
          cmocka_unit_test(change__too_many_and_what_came_or_went_is_summed),
          cmocka_unit_test(core__has_an_event_for_each_and_one_for_the_rest))
