/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/hold.h"

#include "core/state.h"

#include <assert.h>

enum { AMBIGUOUS_HOLD_MS = 600 * 1000 };

bool hold_has_services(const struct reservation *r)
{
    assert(r->reported == NULL || r->reported->clean <= r->reported->count);
    return r->reported != NULL && r->reported->count > r->reported->clean;
}

/* When the reservation was granted twice it cannot be told which life a node speaks of. */
bool hold_all_clean(const struct reservation *r)
{
    assert(r->reported == NULL || r->reported->clean <= r->reported->count);
    return nodes_clean(r->reported) >= r->node_count && !r->regranted;
}

int64_t hold_end(const struct core *core, const struct reservation *r)
{
    assert(core->config.vni_hold_ms >= 0 || core->config.vni_hold_ms == HOLD_UNTIL_REPORTED);
    int64_t from = r->released_ms, hold = core->config.vni_hold_ms;
    bool ambiguous = r->regranted && nodes_clean(r->reported) >= r->node_count;
    if (from < core->facts.holds_from_ms)
        from = core->facts.holds_from_ms;
    if (hold == HOLD_UNTIL_REPORTED && ambiguous)
        hold = AMBIGUOUS_HOLD_MS;
    return hold == HOLD_UNTIL_REPORTED ? INT64_MAX : from + hold;
}
