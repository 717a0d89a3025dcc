/* SPDX-License-Identifier: Apache-2.0 */
/* The line that `systemctl status` shows. */

#include "tests/unit/unit.h"

#include "broker/service/heartbeat.h"

static char line[STATUSLINE_SIZE];

static struct statusline quiet(void)
{
    return (struct statusline){
        .core = {.link = LINK_UP,
                 .link_url = "https://fmn:8000",
                 .link_cause = "",
                 .vnis_free = 64500,
                 .vnis_pool = 64512,
                 .use.jobs_active = 12,
                 .use.jobs_releasing = 3},
        .engine = {.role = ROLE_LEADER},
    };
}

UNIT(healthy__tells_link_and_numbers)
{
    struct statusline facts = quiet();
    size_t first = statusline_format(&facts, line);
    assert_string_equal(line, "Fabric manager https://fmn:8000 is up. 12 jobs, 3 being released, "
                              "64500 of 64512 VNIs free.");
    assert_string_equal(line + first, " 12 jobs, 3 being released, 64500 of 64512 VNIs free.");
}

UNIT(numbers__do_not_change_the_first_part)
{
    struct statusline facts = quiet();
    char before[STATUSLINE_SIZE];
    size_t first = statusline_format(&facts, before);
    facts.core.use.jobs_active = 100000;
    assert_int_equal(statusline_format(&facts, line), first);
    assert_memory_equal(line, before, first);
}

UNIT(trouble__comes_first)
{
    struct statusline facts = quiet();
    facts.core.link = LINK_DOWN;
    facts.core.link_cause = "Could not connect to server";
    facts.engine.storage_failing = true;
    strcpy(facts.engine.storage_error, "/var/lib/mcastd/state.db: the disk is full");
    facts.reload_refused = true;
    (void)statusline_format(&facts, line);
    assert_string_equal(line, "Cannot save: /var/lib/mcastd/state.db: the disk is full; requests "
                              "are refused. The last reload was refused (see the log). Fabric "
                              "manager https://fmn:8000: down (Could not connect to server). 12 "
                              "jobs, 3 being released, 64500 of 64512 VNIs free.");
}

/* B11 */
UNIT(alarm__comes_before_all)
{
    struct statusline facts = quiet();
    struct alarm conflict = {
        .kind = ALARM_NAME_CONFLICT, .cluster = "elcap", .detail = "elcap-7 has another token"};
    facts.alarms = &conflict;
    facts.reload_refused = true;
    (void)statusline_format(&facts, line);
    static const char one[] = "ALARM name-conflict of cluster elcap. The "
                              "last reload was refused";
    assert_memory_equal(line, one, sizeof one - 1);
    struct alarm loss = {.kind = ALARM_MASS_LOSS, .detail = "12 of 40 are missing"};
    loss.next = &(struct alarm){.next = &conflict};
    facts.alarms = &loss;
    (void)statusline_format(&facts, line);
    static const char more[] = "ALARM mass-loss (and 2 more). The last";
    assert_memory_equal(line, more, sizeof more - 1);
}

UNIT(no_fabric_manager__is_no_trouble)
{
    struct statusline facts = quiet();
    facts.core.link = LINK_DOWN;
    facts.core.link_url = "";
    facts.core.link_cause = "no fabric manager is configured";
    (void)statusline_format(&facts, line);
    assert_memory_equal(line, "No fabric manager is configured. 12 jobs", 40);
}

/* B7: a standby knows no jobs and no fabric manager, but who leads. */
UNIT(standby__tells_who_leads)
{
    struct statusline facts = quiet();
    struct leadership_facts several = {.phase = LEADER_STANDBY, .unreachable_ms = -1};
    facts.engine.role = ROLE_STANDBY;
    facts.engine.leadership = &several;
    (void)statusline_format(&facts, line);
    assert_string_equal(line, "Standby: no broker leads.");
    strcpy(several.leader, "https://m2:7470");
    several.unreachable_ms = 5;
    strcpy(several.error, "refused");
    (void)statusline_format(&facts, line);
    assert_string_equal(line, "Standby: https://m2:7470 leads. etcd does not answer (refused).");
    several.phase = LEADER_LEADING;
    several.unreachable_ms = -1;
    (void)statusline_format(&facts, line);
    assert_string_equal(line, "Won the election, loading the ledger.");
}

/* A second line would be another word to the service manager (sd_notify(3)). */
UNIT(foreign_words__stay_in_the_line)
{
    struct statusline facts = quiet();
    facts.core.link = LINK_DOWN;
    facts.core.link_cause = "sorry\nMAINPID=1\x1b[2J";
    (void)statusline_format(&facts, line);
    assert_non_null(strstr(line, "(sorry\\x0aMAINPID=1\\x1b[2J)"));
    assert_null(strchr(line, '\n'));
}

UNIT(long_words__are_cut_before_the_numbers)
{
    struct statusline facts = quiet();
    char words[ERROR_TEXT_SIZE];
    memset(words, '\x01', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    facts.core.link = LINK_DOWN;
    facts.core.link_cause = words;
    facts.engine.storage_failing = true;
    memcpy(facts.engine.storage_error, words, sizeof words);
    (void)statusline_format(&facts, line);
    assert_true(strlen(line) < STATUSLINE_SIZE);
    assert_non_null(strstr(line, " [cut] 12 jobs, 3 being released, 64500 of 64512 VNIs free."));
}

UNIT_RUN(NULL, NULL)
