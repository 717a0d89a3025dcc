/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/grant/memo.h"

static int keep(json_t *memo, const char *name, const json_t *of, const char *field)
{
    json_t *value = json_object_get(of, field);
    return value && !json_is_null(value) ? json_object_set(memo, name, value) : 0;
}

json_t *memo_of(const json_t *reservation)
{
    const json_t *hwcoll = json_object_get(reservation, "hwcoll");
    json_t *memo = json_object();
    if (!memo || keep(memo, "number", reservation, "number") < 0 ||
        keep(memo, "vnis", reservation, "vnis") < 0 || keep(memo, "hwcoll", hwcoll, "state") < 0 ||
        keep(memo, "reason", hwcoll, "reason") < 0 ||
        keep(memo, "addresses", hwcoll, "addresses") < 0 ||
        keep(memo, "warning", reservation, "warning") < 0) {
        json_decref(memo);
        return NULL;
    }
    return memo;
}
