/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/quarantine.h"

#include <assert.h>

enum {
    AMBIGUOUS_HOLD_MS = 600 * 1000,
    CLOCK_TOLERANCE_MS = 2000, /* leap seconds, and the time between reading two clocks */
};

bool quarantine_has_services(const struct reservation *r)
{
    assert(!r->reported || r->reported->clean <= r->reported->count);
    return r->reported && r->reported->count > r->reported->clean;
}

/* When the reservation was granted twice it cannot be told which life a node speaks of. */
bool quarantine_all_clean(const struct reservation *r)
{
    assert(!r->reported || r->reported->clean <= r->reported->count);
    return nodes_clean(r->reported) >= r->node_count && !r->regranted;
}

int64_t core_quarantine_end(const struct core *core, const struct reservation *r)
{
    assert(core->config.vni_hold_ms >= 0 || core->config.vni_hold_ms == HOLD_UNTIL_REPORTED);
    int64_t from = r->released_ms;
    int64_t hold = r->launched ? HOLD_UNTIL_REPORTED : core->config.vni_hold_ms;
    bool ambiguous = r->regranted && nodes_clean(r->reported) >= r->node_count;
    if (from < core->facts.holds_from_ms)
        from = core->facts.holds_from_ms;
    if (hold == HOLD_UNTIL_REPORTED && ambiguous)
        hold = AMBIGUOUS_HOLD_MS;
    return hold == HOLD_UNTIL_REPORTED ? INT64_MAX : from + hold;
}

int64_t core_pkey_end(const struct core *core, const struct reservation *r)
{
    assert(core->config.omnipath.pkey_hold_ms >= 0);
    int64_t from = r->released_ms;
    if (r->state != JOB_RELEASING || r->pkey == 0)
        return INT64_MAX;
    if (from < core->facts.holds_from_ms)
        from = core->facts.holds_from_ms;
    return from + core->config.omnipath.pkey_hold_ms;
}

void core_set_clock(struct core *core, const char *boot, int64_t offset_ms)
{
    assert(strlen(boot) <= BOOT_ID_MAX);
    strcpy(core->host.boot, boot);
    core->host.clock_ms = offset_ms;
}

/* F3: times on disk can be compared with now when the host has not booted since and its clock was
 * not set. Else it is not known how long this broker was away, and the quarantine of VNIs begins
 * anew. */
void quarantine_compare_clock(struct core *core)
{
    assert(strlen(core->host.boot) <= BOOT_ID_MAX);
    int64_t moved = core->host.clock_ms - core->facts.clock_ms;
    bool same_boot = core->host.boot[0] != '\0' && strcmp(core->host.boot, core->boot) == 0;
    if (same_boot && moved >= -CLOCK_TOLERANCE_MS && moved <= CLOCK_TOLERANCE_MS)
        return;
    if (core->vnis.quarantined.count > 0 && core->config.vni_hold_ms != HOLD_UNTIL_REPORTED)
        core_trace(
            core, TRACE_NOTICE,
            "%s, so it is not known how long mcastd was away -> [vni] hold of %u VNIs begins "
            "anew",
            same_boot                    ? "the clock was set"
            : core->host.boot[0] == '\0' ? "the boot of the host is not known"
                                         : "the host was booted",
            core->vnis.quarantined.count);
    core->facts.holds_from_ms = core->now_ms;
    core->host.unsaved = core->host.boot[0] != '\0'; /* else the next start will not know either */
    if (core->vnis.quarantined.count > 0)
        quarantine_save_clock(core);
}

/* Not before something is quarantined: most starts save nothing. */
void quarantine_save_clock(struct core *core)
{
    assert(!core->host.unsaved || core->host.boot[0] != '\0');
    struct facts_record facts = core->facts;
    if (!core->host.unsaved)
        return;
    core->host.unsaved = false;
    facts.boot = core->host.boot;
    facts.clock_ms = core->host.clock_ms;
    core_save_facts(core, &facts);
}
