/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interconnect/interconnect.h"

/* Nothing that a broker would give out: plain TCP, or a fabric that keeps jobs apart by itself. */

static void tell_none(const struct core_config *config, const char *fm_url,
                      const struct reservation *r, const char *step, variable_fn *each, void *arg)
{
    (void)config, (void)fm_url, (void)r, (void)step, (void)each, (void)arg;
}

const struct interconnect interconnect_none = {.draw = interconnect_draw_nothing,
                                               .environment = tell_none};
