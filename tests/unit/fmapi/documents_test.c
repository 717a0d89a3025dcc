/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/documents.h"
#include "tests/unit/unit.h"

/* What the fabric manager tells of the fabric, as it is decoded. */

static int page_of(enum documents_kind kind, const char *body, struct documents_page *page,
                   struct documents *out, struct error *err)
{
    *err = (struct error){0};
    return documents_page(page, kind, body, strlen(body), out, err);
}

static void page__has_documents_or_bare_links(void **state)
{
    static const char body[] =
        "{\"documentLinks\":[\"/fabric/switches/g1s2\",\"/fabric/switches/x3\"],"
        "\"documentCount\":2,\"documentVersion\":7,\"documentUpdateTimeMicros\":99,"
        "\"nextPageLink\":\"/fabric/switches?after=2\",\"documents\":{\"/fabric/switches/g1s2\":"
        "{\"groupNumber\":1,\"switchNumber\":2,\"state\":\"Offline\"}}}";
    struct documents out = {0};
    struct documents_page page;
    struct error err;
    (void)state;
    assert_int_equal(page_of(DOCUMENTS_SWITCHES, body, &page, &out, &err), 0);
    assert_int_equal(page.links, 2);
    assert_int_equal(page.bare_count, 1);
    assert_string_equal(page.bare[0], "/fabric/switches/x3");
    assert_string_equal(page.next, "/fabric/switches?after=2");
    assert_int_equal(page.stamp.version, 7);
    assert_int_equal(page.stamp.updated_us, 99);
    assert_int_equal(page.stamp.claimed, 2);
    assert_int_equal(documents_count(&out, DOCUMENTS_SWITCHES), 1);
    assert_int_equal(out.fabric.switches.all[0].place, 34);
    assert_int_equal(out.fabric.switches.all[0].state, FABRIC_DOWN);
    assert_string_equal(out.fabric.switches.all[0].name, "g1s2");
    documents_page_release(&page);
    documents_release(&out);
}

static void single__fits_the_fabric(void **state)
{
    static const char port[] = "{\"groupNumber\":1,\"switchNumber\":0,\"portNumber\":2,\"DFA\":"
                               "8396800,\"portType\":\"EDGE\",\"status\":\"up\"}";
    static const char cable[] = "{\"portLinks\":[\"/fabric/ports/a\",\"/fabric/ports/b\"]}";
    static const char partition[] =
        "{\"partitionName\":\"blue\\n\",\"vniRanges\":[\"1-3\",\"3-5\",\"9\"]}";
    struct documents out = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(
        documents_single(DOCUMENTS_PORTS, "/fabric/ports/a", port, strlen(port), &out, &err), 0);
    assert_int_equal(out.fabric.ports.all[0].dfa, 8396800);
    assert_true(out.fabric.ports.all[0].edge);
    assert_int_equal(out.fabric.ports.all[0].state, FABRIC_UP);
    assert_int_equal(
        documents_single(DOCUMENTS_CABLES, "/fabric/links/x", cable, strlen(cable), &out, &err), 0);
    assert_true(out.fabric.cables.all[0].names[0] == out.fabric.ports.all[0].name);
    assert_int_equal(out.fabric.cables.all[0].state, FABRIC_UNKNOWN);
    assert_int_equal(documents_single(DOCUMENTS_PARTITIONS, "/fabric/vni/partitions/blue",
                                      partition, strlen(partition), &out, &err),
                     0);
    assert_string_equal(out.partitions.all[0].name, "blue?");
    assert_int_equal(out.partitions.all[0].vnis.count, 6);
    assert_true(idset_has(&out.partitions.all[0].vnis, 9));
    documents_release(&out);
}

static void nonsense__is_refused_with_a_sentence(void **state)
{
    static const struct {
        enum documents_kind kind;
        const char *body, *words;
    } singles[] = {
        {DOCUMENTS_SWITCHES, "[]", "/x: its document is not a JSON object"},
        {DOCUMENTS_SWITCHES, "{\"groupNumber\":512,\"switchNumber\":1}", "no groupNumber below"},
        {DOCUMENTS_SWITCHES, "{\"groupNumber\":\"1\",\"switchNumber\":1}", "no groupNumber below"},
        {DOCUMENTS_PORTS, "{\"groupNumber\":1,\"switchNumber\":1,\"portNumber\":64}", "portNumber"},
        {DOCUMENTS_PORTS, "{\"groupNumber\":1,\"switchNumber\":1,\"portNumber\":6,\"DFA\":7}",
         "its DFA is not that of"},
        {DOCUMENTS_CABLES, "{\"portLinks\":[\"/a\"]}", "its portLinks are not two"},
        {DOCUMENTS_CABLES, "{\"portLinks\":[\"/a\",7]}", "an entry of portLinks is no link"},
        {DOCUMENTS_CABLES, "{\"portLinks\":[\"/b/a\",\"/c/a\"]}", "are the same port"},
        {DOCUMENTS_PARTITIONS, "{\"partitionName\":\"a\"}", "no array vniRanges"},
        {DOCUMENTS_PARTITIONS, "{\"partitionName\":\"a\",\"vniRanges\":[\"7-70000\"]}",
         "is no range of VNIs"},
    };
    static const char *const pages[][2] = {
        {"", "the body is not a JSON object"},
        {"<html>", "the body is not a JSON object"},
        {"{}", "documentLinks is missing"},
        {"{\"documentLinks\":[1]}", "an entry of documentLinks is no link"},
        {"{\"documentLinks\":[],\"nextPageLink\":1}", "nextPageLink is no link"},
        {"{\"documentLinks\":[\"/a\"],\"documents\":{\"/a\":[]}}", "/a: its document is not"},
    };
    struct documents out = {0};
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
        assert_int_equal(documents_single(singles[i].kind, "/x", singles[i].body,
                                          strlen(singles[i].body), &out, &err),
                         ERROR_CORRUPT);
        assert_words(err.text, singles[i].words);
        assert_int_equal(documents_count(&out, singles[i].kind), 0);
    }
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct documents_page page;
        assert_int_equal(page_of(DOCUMENTS_SWITCHES, pages[i][0], &page, &out, &err),
                         ERROR_CORRUPT);
        assert_words(err.text, pages[i][1]);
        documents_page_release(&page);
    }
    documents_release(&out);
}

static void stamp__that_was_not_told_says_nothing(void **state)
{
    const struct documents_stamp none = {-1, -1, 4}, zero = {0, 0, 4}, told = {3, 0, 4},
                                 later = {3, 8, 4};
    (void)state;
    assert_false(documents_same(&none, &none));
    assert_false(documents_same(&zero, &zero));
    assert_true(documents_same(&told, &told));
    assert_false(documents_same(&told, &later));
}

UNIT_MAIN(cmocka_unit_test(page__has_documents_or_bare_links),
          cmocka_unit_test(single__fits_the_fabric),
          cmocka_unit_test(nonsense__is_refused_with_a_sentence),
          cmocka_unit_test(stamp__that_was_not_told_says_nothing))
