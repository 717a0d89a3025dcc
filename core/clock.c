/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"

#include "core/apply.h"
#include "core/effects.h"

#include <assert.h>
#include <string.h>

enum { CLOCK_TOLERANCE_MS = 2000 }; /* leap seconds, and the time between reading two clocks */

void core_clock(struct core *core, const char *boot, int64_t offset_ms)
{
    assert(strlen(boot) <= BOOT_ID_MAX);
    strcpy(core->boot_now, boot);
    core->clock_now_ms = offset_ms;
}

/* F3: times on disk can be compared with now when the host has not booted since and its clock was
 * not set. Else it is not known how long this broker was away, and the quarantine of VNIs begins
 * anew. */
void clock_compare(struct core *core)
{
    assert(strlen(core->boot_now) <= BOOT_ID_MAX);
    int64_t moved = core->clock_now_ms - core->facts.clock_ms;
    bool same_boot = core->boot_now[0] != '\0' && strcmp(core->boot_now, core->boot) == 0;
    if (same_boot && moved >= -CLOCK_TOLERANCE_MS && moved <= CLOCK_TOLERANCE_MS)
        return;
    if (core->vnis.held.count > 0 && core->config.vni_hold_ms != HOLD_UNTIL_REPORTED)
        core_trace(
            core, TRACE_NOTICE,
            "%s, so it is not known how long mcastd was away -> [vni] hold of %u VNIs begins "
            "anew",
            same_boot                   ? "the clock was set"
            : core->boot_now[0] == '\0' ? "the boot of the host is not known"
                                        : "the host was booted",
            core->vnis.held.count);
    core->facts.holds_from_ms = core->now_ms;
    core->clock_unsaved = core->boot_now[0] != '\0'; /* else the next start will not know either */
    if (core->vnis.held.count > 0)
        core_keep_clock(core);
}

/* Not before a VNI is quarantined: most starts save nothing. */
void core_keep_clock(struct core *core)
{
    assert(!core->clock_unsaved || core->boot_now[0] != '\0');
    struct facts_record facts = core->facts;
    if (!core->clock_unsaved)
        return;
    core->clock_unsaved = false;
    facts.boot = core->boot_now;
    facts.clock_ms = core->clock_now_ms;
    core_save_facts(core, &facts);
}
