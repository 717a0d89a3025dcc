/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"
#include "tests/coreconfig.h"

#include "core/reservation/sizing.h"
#include "core/reservation/record.h"

static struct core_config sized(uint32_t m, uint32_t s_all, uint32_t s_min, uint32_t j)
{
    struct core_config config;
    coreconfig_init(&config);
    config.total_addresses = m;
    config.system_nodes = s_all;
    config.min_nodes = s_min;
    config.sharing = j;
    return config;
}

/* F15: (M/(S/s))/j. El Capitan: 23. */
UNIT(sizing_addresses__computes)
{
    static const struct {
        uint32_t m, s_all, s_min, j, addresses;
    } cases[] = {
        {4086, 11136, 64, 1, 23},
        {4086, 11136, 64, 2, 11},
        {4086, 11136, 11136, 1, 4086},
        {4086, 4360, 128, 1, 119},
        {100, 100, 1, 1, 1},
        {4086, 11136, 3, 1, 1},
        {8191, 4000000000u, 4000000000u, 1, 8191},
        {4000000000u, 4000000000u, 4000000000u, 1, 4000000000u},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct core_config config = sized(cases[i].m, cases[i].s_all, cases[i].s_min, cases[i].j);
        uint32_t addresses;
        struct error err;
        assert_int_equal(sizing_addresses(&config, &addresses, &err), 0);
        assert_int_equal(addresses, cases[i].addresses);
    }
}

UNIT(sizing_addresses__a_number_is_taken_as_it_is)
{
    struct core_config config = sized(4086, 0, 0, 1);
    uint32_t addresses;
    config.addresses_per_job = 23;
    assert_int_equal(sizing_addresses(&config, &addresses, NULL), 0);
    assert_int_equal(addresses, 23);
}

/* Each impossible configuration is refused with what would do. */
UNIT(sizing_addresses__says_what_is_impossible)
{
    const struct {
        struct core_config config;
        const char *says;
    } cases[] = {
        {sized(4086, 11136, 2, 1), "min_nodes to 3 or more"},
        {sized(4, 10, 5, 10), "sharing to at most 4"},
        {sized(4086, 64, 128, 1), "more than system_nodes"},
        {sized(4086, 11136, 0, 1), "set min_nodes"},
        {sized(0, 11136, 64, 1), "total_addresses"},
        {sized(4086, 0, 64, 1), "system_nodes"},
        {sized(4086, 11136, 64, 0), "sharing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t addresses = 77;
        struct error err = {0};
        assert_int_equal(sizing_addresses(&cases[i].config, &addresses, &err), ERROR_INVALID);
        assert_int_equal(addresses, 0);
        assert_non_null(strstr(err.text, cases[i].says));
        if (cases[i].config.min_nodes > 0)
            assert_int_equal(core_config_check(&cases[i].config, NULL), ERROR_INVALID);
    }
    struct core_config more = sized(10, 0, 0, 1);
    more.addresses_per_job = 11;
    uint32_t addresses;
    assert_int_equal(sizing_addresses(&more, &addresses, NULL), ERROR_INVALID);
}

/* The minimum size that the error recommends really works, and one less does not. */
UNIT(sizing_addresses__recommends_what_works)
{
    struct core_config config = sized(4086, 11136, 3, 1);
    uint32_t addresses;
    assert_int_equal(sizing_addresses(&config, &addresses, NULL), 0);
    config.min_nodes = 2;
    assert_int_equal(sizing_addresses(&config, &addresses, NULL), ERROR_INVALID);
    for (uint32_t total = 1; total < 40; total++) {
        for (uint32_t sharing = 1; sharing < 5 && sharing <= total; sharing++) {
            struct error err = {0};
            struct core_config c = sized(total, 36, 1, sharing);
            if (sizing_addresses(&c, &addresses, &err) == 0)
                continue;
            const char *set = strstr(err.text, "set [hwcoll] min_nodes to ");
            assert_non_null(set);
            c.min_nodes = (uint32_t)strtoul(set + strlen("set [hwcoll] min_nodes to "), NULL, 10);
            assert_int_equal(sizing_addresses(&c, &addresses, NULL), 0);
            assert_int_equal(addresses, 1);
            c.min_nodes--;
            assert_int_equal(sizing_addresses(&c, &addresses, NULL), ERROR_INVALID);
        }
    }
    config = sized(1, 11136, 64, 1);
    config.addresses_per_job = 2; /* than which even one is less */
    assert_int_equal(sizing_addresses(&config, &addresses, NULL), ERROR_INVALID);
}

/* F14 */
UNIT(sizing_decide__eligibility)
{
    static const struct {
        uint32_t min_nodes;
        enum hwcoll_wish wish;
        uint32_t nodes;
        enum hwcoll_state state;
    } cases[] = {
        {64, WISH_AUTO, 64, HWCOLL_WANTED},
        {64, WISH_AUTO, 63, HWCOLL_INELIGIBLE},
        {64, WISH_ON, 64, HWCOLL_WANTED},
        {64, WISH_ON, 63, HWCOLL_INELIGIBLE},
        {64, WISH_OFF, 11136, HWCOLL_OFF},
        {64, WISH_REQUIRED, 64, HWCOLL_WANTED},
        {64, WISH_REQUIRED, 1, HWCOLL_INELIGIBLE},
        {0, WISH_AUTO, 11136, HWCOLL_INELIGIBLE},
        {0, WISH_ON, 2, HWCOLL_WANTED},
        {0, WISH_REQUIRED, 2, HWCOLL_WANTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct core_config config = sized(4086, 11136, cases[i].min_nodes, 1);
        uint32_t addresses;
        struct error err = {0};
        if (cases[i].min_nodes == 0)
            config.addresses_per_job = 8;
        assert_int_equal(sizing_decide(&config, cases[i].wish, cases[i].nodes, 0, &addresses, &err),
                         cases[i].state);
        assert_int_equal(addresses > 0, cases[i].state == HWCOLL_WANTED);
        if (cases[i].state == HWCOLL_INELIGIBLE)
            assert_true(strlen(err.text) > 0);
    }
}

UNIT_RUN(NULL, NULL)
