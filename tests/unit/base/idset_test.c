/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "base/idset.h"

UNIT(idset_parse__reads_ranges_and_merges)
{
    static const struct {
        const char *text, *same;
        unsigned count;
    } good[] = {
        {"", "", 0},
        {"7", "7", 1},
        {"1024-2047,4096", "1024-2047,4096", 1025},
        {" 3 , 1-2 ", "1-3", 3},
        {"0-65535", "0-65535", 65536},
        {"65535", "65535", 1},
        {"5,5,5", "5", 1},
        {"63-64,128", "63-64,128", 3},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct idset set;
        struct error err;
        char text[64] = "";
        idset_init(&set);
        assert_int_equal(idset_parse(&set, good[i].text, &err), 0);
        assert_int_equal(set.count, good[i].count);
        FILE *out = fmemopen(text, sizeof text, "w");
        assert_non_null(out);
        idset_print(out, &set);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, good[i].same);
    }
}

UNIT(idset_parse__refuses_and_changes_nothing)
{
    static const char *const bad[] = {"x",           "1-",  "-1",    "2-1",       "65536", "1,,2",
                                      "1,",          ",1",  "1 2",   "1;2",       "0x1",   "1-2-3",
                                      "99999999999", "1-x", "1,2 a", "1024-70000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct idset set;
        struct error err = {0};
        idset_init(&set);
        idset_add(&set, 42);
        assert_int_equal(idset_parse(&set, bad[i], &err), ERROR_INVALID);
        assert_true(strlen(err.text) > 0);
        assert_int_equal(set.count, 1);
        assert_true(idset_has(&set, 42));
    }
}

UNIT(idset_next__wraps)
{
    struct idset set;
    idset_init(&set);
    assert_int_equal(idset_next(&set, 0), -1);
    idset_add(&set, 100);
    idset_add(&set, 65535);
    assert_int_equal(idset_next(&set, 0), 100);
    assert_int_equal(idset_next(&set, 100), 100);
    assert_int_equal(idset_next(&set, 101), 65535);
    assert_int_equal(idset_next(&set, 65536), 100);
    idset_remove(&set, 100);
    assert_int_equal(idset_next(&set, 0), 65535);
    idset_remove(&set, 65535);
    assert_int_equal(idset_next(&set, 7), -1);
}

/* Every id is found, whatever the two levels of bits are asked. */
UNIT(idset_next__walks_all)
{
    struct idset set;
    idset_init(&set);
    for (uint32_t id = 3; id <= 65535; id += 61)
        idset_add(&set, (uint16_t)id);
    uint32_t seen = 0, expected = 3;
    for (int id = idset_next(&set, 0); seen < set.count; id = idset_next(&set, (uint32_t)id + 1)) {
        assert_int_equal(id, expected);
        expected += 61;
        seen++;
    }
}

/* Removed again, wherever they lie, as if they had never been there. */
UNIT(idset_remove__leaves_nothing_behind)
{
    struct idset set, empty;
    idset_init(&set);
    idset_init(&empty);
    for (uint32_t id = 0; id <= UINT16_MAX; id += 63)
        idset_add(&set, (uint16_t)id);
    for (uint32_t id = 0; id <= UINT16_MAX; id += 63) {
        assert_int_equal(idset_next(&set, 0), id);
        idset_remove(&set, (uint16_t)id);
        idset_remove(&set, (uint16_t)id); /* twice is once */
    }
    assert_int_equal(idset_next(&set, 0), -1);
    assert_int_equal(idset_next(&set, UINT16_MAX), -1);
    assert_memory_equal(&set, &empty, sizeof set);
}

UNIT_RUN(NULL, NULL)
