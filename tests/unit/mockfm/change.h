/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of the mock fabric manager's objects (mock-fm/objects/objects.h), as new references. */
#pragma once

#include <jansson.h>
#include <stdint.h>

static inline json_t *change_job(int64_t at_us, const char *id, const char *token, unsigned limit,
                                 uint64_t serial)
{
    return json_pack("{s:s, s:I, s:s, s:s, s:i, s:I, s:i}", "op", "job", "at", at_us, "job", id,
                     "token", token, "limit", (int)limit, "serial", (json_int_t)serial, "version",
                     0);
}

static inline json_t *change_job_gone(int64_t at_us, const char *id)
{
    return json_pack("{s:s, s:I, s:s}", "op", "job-gone", "at", at_us, "job", id);
}

static inline json_t *change_step_gone(int64_t at_us, const char *id, const char *step)
{
    return json_pack("{s:s, s:I, s:s, s:s}", "op", "step-gone", "at", at_us, "job", id, "step",
                     step);
}

/* Without address and root, for objects_may_grow. Takes macs. */
static inline json_t *change_tree(int64_t at_us, const char *id, const char *step, json_t *macs)
{
    return json_pack("{s:s, s:I, s:s, s:s, s:i, s:I, s:o}", "op", "tree", "at", at_us, "job", id,
                     "step", step, "vni", 1024, "timeout", (json_int_t)20000000, "macs", macs);
}

static inline json_t *change_tree_at(int64_t at_us, const char *id, const char *step,
                                     unsigned mcast_id, uint32_t root, json_t *macs)
{
    json_t *change = change_tree(at_us, id, step, macs);
    json_object_set_new(change, "mcastID", json_integer(mcast_id));
    json_object_set_new(change, "root", json_integer(root));
    return change;
}

static inline json_t *change_tree_gone(int64_t at_us, unsigned mcast_id)
{
    return json_pack("{s:s, s:I, s:i}", "op", "tree-gone", "at", at_us, "mcastID", (int)mcast_id);
}
