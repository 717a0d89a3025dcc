/* SPDX-License-Identifier: Apache-2.0 */
/* The synthetic fabric that the mock fabric manager lets one read. */

#include "mock-fm/objects/inventory.h"
#include "tests/unit/unit.h"

static const char *const bases[] = {
    "/fabric/vni/partitions", "/fabric/vni/blocks",    "/fabric/switches",      "/fabric/ports",
    "/fabric/links",          "/fabric/topology-maps", "/fabric/port-policies", "/switch-telemetry",
};

static struct inventory sized(const char *size)
{
    struct inventory inventory;
    struct problem problem;

    assert_int_equal(inventory_parse(&inventory, size, &problem), 0);
    return inventory;
}

static json_t *list(const struct inventory *inventory, const char *base)
{
    struct problem problem;
    json_t *document = NULL;

    assert_true(inventory_owns(base));
    document = inventory_read(inventory, base, &(struct request){0}, &problem);
    assert_non_null(json_object_get(document, "documentLinks"));
    return document;
}

static size_t count(const struct inventory *inventory, const char *base)
{
    json_t *document = list(inventory, base);
    size_t number = json_array_size(json_object_get(document, "documentLinks"));

    assert_int_equal(json_integer_value(json_object_get(document, "documentCount")), number);
    json_decref(document);
    return number;
}

/* NULL: answered with 404. */
static json_t *get(const struct inventory *inventory, const char *path)
{
    struct problem problem;
    json_t *document;

    assert_true(inventory_owns(path));
    document = inventory_read(inventory, path, &(struct request){0}, &problem);
    if (!document)
        assert_int_equal(problem.status, 404);
    return document;
}

static const char *text(const json_t *document, const char *field)
{
    const char *value = json_string_value(json_object_get(document, field));

    assert_non_null(value);
    return value;
}

static json_int_t number(const json_t *document, const char *field)
{
    const json_t *value = json_object_get(document, field);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void list__is_as_long_as_the_size_says(void **state)
{
    struct inventory small = sized("2x2x4"), one = sized("1x1x1"), large = sized("9x4x12");

    assert_int_equal(count(&small, "/fabric/switches"), 4);
    assert_int_equal(count(&small, "/fabric/ports"), 16);
    assert_int_equal(count(&small, "/fabric/links"), 2 + 1);
    assert_int_equal(count(&small, "/switch-telemetry"), 4);
    assert_int_equal(count(&small, "/fabric/port-policies"), 2);
    assert_int_equal(count(&small, "/fabric/vni/partitions"), 1);
    assert_int_equal(count(&one, "/fabric/ports"), 1);
    assert_int_equal(count(&one, "/fabric/links"), 0);
    /* Six pairs of switches in each group, and 36 pairs of groups. */
    assert_int_equal(count(&large, "/fabric/links"), 9 * 6 + 36);
}

static void member__is_what_its_link_says(void **state)
{
    struct inventory inventory = sized("5x3x6");

    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        json_t *all = list(&inventory, bases[i]), *link;
        size_t place;

        json_array_foreach(json_object_get(all, "documentLinks"), place, link)
        {
            json_t *document = get(&inventory, json_string_value(link));

            assert_non_null(document);
            assert_string_equal(text(document, "documentSelfLink"), json_string_value(link));
            assert_string_not_equal(text(document, "documentKind"), "");
            assert_string_not_equal(text(document, "documentOwner"), "");
            assert_int_equal(number(document, "documentVersion"), 0);
            assert_int_equal(number(document, "documentEpoch"), 0);
            assert_int_equal(number(document, "documentUpdateTimeMicros"), 0);
            json_decref(document);
        }
        json_decref(all);
    }
}

/* Both ends of a link name it, so no port is the end of two. */
static void link__joins_two_ports_that_know_it(void **state)
{
    struct inventory inventory = sized("9x4x12");
    json_t *links = list(&inventory, "/fabric/links"), *link;
    size_t place;

    json_array_foreach(json_object_get(links, "documentLinks"), place, link)
    {
        json_t *document = get(&inventory, json_string_value(link));
        const json_t *ends = json_object_get(document, "portLinks");
        json_int_t group[2];

        assert_int_equal(json_array_size(ends), 2);
        for (size_t end = 0; end < 2; end++) {
            json_t *port = get(&inventory, json_string_value(json_array_get(ends, end)));

            assert_string_equal(text(port, "linkLink"), json_string_value(link));
            assert_string_equal(text(port, "portType"), "fabric");
            assert_null(json_object_get(port, "macAddress"));
            group[end] = number(port, "groupNumber");
            json_decref(port);
        }
        assert_string_equal(text(document, "linkType"), group[0] == group[1] ? "local" : "global");
        json_decref(document);
    }
    json_decref(links);
}

/* (group << 23) | (switch << 18) | (port << 12), up to the last bit. */
static void port__has_its_dfa(void **state)
{
    struct inventory inventory = sized("512x32x64");
    json_t *port = get(&inventory, "/fabric/ports/g511s31p63");

    assert_int_equal(number(port, "DFA"), 0xFFFFF000);
    assert_string_equal(text(port, "macAddress"), "00:00:00:0F:FF:FF");
    assert_string_equal(text(port, "switchLink"), "/fabric/switches/g511s31");
    assert_string_equal(text(port, "portPolicyLink"), "/fabric/port-policies/edge");
    json_decref(port);
    port = get(&inventory, "/fabric/ports/g3s2p1");
    assert_int_equal(number(port, "DFA"), 3 << 23 | 2 << 18 | 1 << 12);
    json_decref(port);
}

static void partition__has_every_edge_port_and_no_other(void **state)
{
    struct inventory inventory = sized("2x2x4");
    json_t *partition = get(&inventory, "/fabric/vni/partitions/default");
    json_t *ports = list(&inventory, "/fabric/ports"), *link;
    const json_t *edge = json_object_get(partition, "edgePortDFA");
    size_t place, seen = 0;

    assert_string_equal(text(partition, "partitionName"), "default");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(partition, "vniRanges"), 0)),
        "1024-65535");
    json_array_foreach(json_object_get(ports, "documentLinks"), place, link)
    {
        json_t *port = get(&inventory, json_string_value(link));

        if (strcmp(text(port, "portType"), "edge") == 0)
            assert_int_equal(json_integer_value(json_array_get(edge, seen++)), number(port, "DFA"));
        json_decref(port);
    }
    /* Two ends of each of three links are no edge ports. */
    assert_int_equal(seen, 16 - 2 * 3);
    assert_int_equal(json_array_size(edge), seen);
    json_decref(ports);
    json_decref(partition);
}

static void member__that_is_unknown_is_404(void **state)
{
    static const char *const unknown[] = {
        "/fabric/vni/partitions/other",
        "/fabric/vni/blocks/0",
        "/fabric/switches/g2s0",
        "/fabric/switches/g0s2",
        "/fabric/switches/g0s00",
        "/fabric/switches/g0",
        "/fabric/switches/g-1s0",
        "/fabric/switches/g0s0p0",
        "/fabric/ports/g0s0",
        "/fabric/ports/g0s0p4",
        "/fabric/ports/g0s0p0x",
        "/fabric/ports/g0s0p 1",
        "/fabric/ports/g4294967296s0p0",
        "/fabric/links/g0s0p0",
        "/fabric/links/g0s1p0-g0s0p0",
        "/fabric/links/g0s0p3-g0s1p3",
        "/fabric/port-policies/none",
        "/switch-telemetry/g9s9",
    };
    struct inventory inventory = sized("2x2x4");

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_null(get(&inventory, unknown[i]));
}

static void path__of_another_sort_is_not_in_it(void **state)
{
    assert_false(inventory_owns("/fabric/switchesx"));
    assert_false(inventory_owns("/fabric/vni"));
    assert_false(inventory_owns("/fabric"));
    json_decref(list(&(struct inventory){2, 2, 4}, "/fabric/switches/"));
}

/* Also where places are empty, as most of those of links are. */
static void list__comes_in_pages(void **state)
{
    struct inventory inventory = sized("9x4x12");
    json_t *whole = list(&inventory, "/fabric/links");
    const json_t *links = json_object_get(whole, "documentLinks");
    struct request request = {.page_size = 7};
    struct problem problem;
    const char *next;
    size_t seen = 0;

    do {
        json_t *page = inventory_read(&inventory, "/fabric/links", &request, &problem), *link;
        size_t place;

        json_array_foreach(json_object_get(page, "documentLinks"), place, link)
        {
            assert_string_equal(json_string_value(link),
                                json_string_value(json_array_get(links, seen)));
            seen++;
        }
        assert_in_range(place, 1, 7);
        if ((next = json_string_value(json_object_get(page, "nextPageLink"))))
            request.after = strtoull(strrchr(next, '=') + 1, NULL, 10);
        json_decref(page);
    } while (next && seen < json_array_size(links));
    assert_null(next);
    assert_int_equal(seen, json_array_size(links));
    json_decref(whole);
}

UNIT_MAIN(cmocka_unit_test(list__is_as_long_as_the_size_says),
          cmocka_unit_test(member__is_what_its_link_says),
          cmocka_unit_test(link__joins_two_ports_that_know_it), cmocka_unit_test(port__has_its_dfa),
          cmocka_unit_test(partition__has_every_edge_port_and_no_other),
          cmocka_unit_test(member__that_is_unknown_is_404),
          cmocka_unit_test(path__of_another_sort_is_not_in_it),
          cmocka_unit_test(list__comes_in_pages))
