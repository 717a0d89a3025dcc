/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "tests/unit/unit.h"

#include "core/fabric/fmcall.h"
#include "core/reservation/record.h"

/* The words that clients, libfabric and the ledger's readers know (F12, F14, F24): each value has
 * just its own. */

struct pair {
    int value;
    const char *word;
};

UNIT(traffic_class__of_each_bit)
{
    static const struct pair pairs[] = {
        {1, "dedicated_access"}, {2, "low_latency"}, {4, "bulk_data"}, {8, "best_effort"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_string_equal(traffic_class_word(pairs[i].value), pairs[i].word);
        assert_int_equal(traffic_class_from_word(pairs[i].word), pairs[i].value);
    }
    for (int value = -1; value <= 32; value++) {
        if (value != 1 && value != 2 && value != 4 && value != 8)
            assert_null(traffic_class_word(value));
    }
    assert_int_equal(traffic_class_from_word("bulk-data"), 0);
    assert_int_equal(traffic_class_from_word(""), 0);
    assert_int_equal(TC_ALL, 1 | 2 | 4 | 8);
}

UNIT(wish__from_its_word)
{
    assert_int_equal(hwcoll_wish_from_word("auto"), WISH_AUTO);
    assert_int_equal(hwcoll_wish_from_word("on"), WISH_ON);
    assert_int_equal(hwcoll_wish_from_word("off"), WISH_OFF);
    assert_int_equal(hwcoll_wish_from_word("required"), WISH_REQUIRED);
    assert_int_equal(hwcoll_wish_from_word("Off"), 0);
}

UNIT(states__have_their_words)
{
    static const char *const hwcoll[] = {[HWCOLL_OFF] = "off",
                                         [HWCOLL_INELIGIBLE] = "ineligible",
                                         [HWCOLL_WANTED] = "wanted",
                                         [HWCOLL_RESERVED] = "reserved",
                                         [HWCOLL_DENIED] = "denied",
                                         [HWCOLL_TIMEOUT] = "timeout",
                                         [HWCOLL_UNAVAILABLE] = "unavailable",
                                         [HWCOLL_LOST] = "lost",
                                         [HWCOLL_RELEASED] = "released"};
    for (int i = HWCOLL_OFF; i <= HWCOLL_RELEASED; i++)
        assert_string_equal(hwcoll_state_word(i), hwcoll[i]);
    assert_string_equal(hwcoll_state_word(0), "unknown");
    assert_string_equal(job_state_word(JOB_ACTIVE), "active");
    assert_string_equal(job_state_word(JOB_RELEASING), "releasing");
    assert_string_equal(job_state_word(0), "unknown");
}

/* Labels of metrics, and words of the log (B8). */
UNIT(calls__have_their_words)
{
    static const char *const kinds[] = {
        [FMCALL_NONE] = "none",        [FMCALL_RESERVE] = "reserve", [FMCALL_CHECK] = "check",
        [FMCALL_RELEASE] = "release",  [FMCALL_STEPS] = "steps",     [FMCALL_END_STEP] = "end-step",
        [FMCALL_END_TREE] = "end-tree"};
    static const char *const outcomes[] = {
        [FM_OK] = "ok",          [FM_GONE] = "gone",           [FM_EXISTS] = "exists",
        [FM_DENIED] = "denied",  [FM_BUSY] = "busy",           [FM_TIMEOUT] = "timeout",
        [FM_BROKEN] = "broken",  [FM_UNREACHED] = "unreached", [FM_UNAUTHORIZED] = "unauthorized",
        [FM_REFUSED] = "refused"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const bool cleanup = i == FMCALL_STEPS || i == FMCALL_END_STEP || i == FMCALL_END_TREE;
        assert_string_equal(fmcall_kind_word((enum fmcall_kind)i), kinds[i]);
        assert_int_equal(fmcall_is_cleanup((enum fmcall_kind)i), cleanup);
    }
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        if (outcomes[i])
            assert_string_equal(fmcall_outcome_word((enum fmcall_outcome)i), outcomes[i]);
    }
    assert_string_equal(fmcall_kind_word((enum fmcall_kind)99), "unknown");
    assert_string_equal(fmcall_outcome_word((enum fmcall_outcome)99), "unknown");
}

/* A node cannot report that it is fenced: that is an administrator's to say (F3). */
UNIT(node_state__fenced_is_no_report)
{
    static const struct pair pairs[] = {{NODE_CREATED, "created"},
                                        {NODE_DESTROYED, "destroyed"},
                                        {NODE_LINGERING, "lingering"},
                                        {NODE_FENCED, "fenced"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        bool reported = pairs[i].value != NODE_FENCED;
        assert_string_equal(node_state_word(pairs[i].value), pairs[i].word);
        assert_int_equal(node_state_from_word(pairs[i].word), reported ? pairs[i].value : 0);
    }
    assert_string_equal(node_state_word(NODE_CREATED - 1), "unknown");
    assert_string_equal(node_state_word(NODE_FENCED + 1), "unknown");
}

UNIT(event_kind__lost_alone_is_fatal)
{
    for (int kind = EVENT_NONE; kind <= EVENT_KIND_COUNT; kind++)
        assert_int_equal(event_kind_fatal(kind), kind == EVENT_LOST);
    assert_string_equal(event_kind_word(EVENT_LOST), "lost");
    assert_string_equal(event_kind_word(EVENT_LINK_DOWN), "link-down");
    assert_string_equal(event_kind_word(EVENT_NONE), "unknown");
    assert_string_equal(event_kind_word(EVENT_KIND_COUNT), "unknown");
}

UNIT_RUN(NULL, NULL)
