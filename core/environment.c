/* SPDX-License-Identifier: Apache-2.0 */
#include "core/environment.h"

#include "core/interconnect/interconnect.h"

void environment_each(const struct core_config *config, const char *fm_url,
                      const struct reservation *r, const char *step,
                      void (*each)(void *arg, const char *name, const char *value), void *arg)
{
    interconnect_of(r->interconnect)->environment(config, fm_url, r, step, each, arg);
}
