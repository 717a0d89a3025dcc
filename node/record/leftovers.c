/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/leftovers.h"

#include "node/services/limits.h"
#include "node/services/match.h"

#include <string.h>

static const char next_step[] =
    "end the processes that use them, which mcast-node list and ps show, or run the job on other "
    "nodes";

static bool is_leftover(const struct note *note, const struct claim *claim)
{
    return note->state == NOTE_LINGERING && note->claim.uid == claim->uid &&
           note->claim.number != claim->number && note_is_current(note);
}

static uint32_t reserved_by(const struct note *note, const struct nic *nic, enum cxi_rsrc_type type)
{
    uint32_t reserved = 0;
    for (unsigned int i = 0; i < note->service_count; i++) {
        const struct cxi_svc_desc *service = strcmp(note->services[i].device, nic->name) == 0
                                                 ? match_by_id(nic->services, note->services[i].id)
                                                 : NULL;
        if (service && service->resource_limits)
            reserved += service->limits.type[type].res;
    }
    return reserved;
}

static int check_nic(const struct notes *notes, const struct nic *nic, const struct claim *claim,
                     struct error *err)
{
    uint32_t reserved[LIMITS_COUNT] = {0};
    for (size_t i = 0; i < notes->count; i++) {
        for (int type = 0; type < LIMITS_COUNT && is_leftover(&notes->at[i], claim); type++)
            reserved[type] += reserved_by(&notes->at[i], nic, (enum cxi_rsrc_type)type);
    }
    for (int i = 0; i < LIMITS_COUNT; i++) {
        enum cxi_rsrc_type type = limits_order[i];
        uint32_t total = limits_total(&nic->info, type);
        if ((uint64_t)reserved[type] * LEFTOVERS_PART > total)
            return error_set(err, ERROR_FULL,
                             "%s: services of earlier jobs of uid %u that are still in use hold "
                             "%u of its %u %s, more than an eighth: %s",
                             nic->name, claim->uid, reserved[type], total, limits_words(type),
                             next_step);
    }
    return 0;
}

int leftovers_check(const struct notes *notes, const struct nics *nics, const struct claim *claim,
                    struct error *err)
{
    unsigned int jobs = 0;
    int rc = 0;
    for (size_t i = 0; i < notes->count; i++)
        jobs += is_leftover(&notes->at[i], claim);
    if (jobs > LEFTOVERS_JOBS_MAX)
        return error_set(err, ERROR_FULL,
                         "services of %u earlier jobs of uid %u are still in use on this node, and "
                         "more than %u are too many: %s",
                         jobs, claim->uid, (unsigned)LEFTOVERS_JOBS_MAX, next_step);
    for (unsigned int i = 0; rc == 0 && jobs > 0 && i < nics->count; i++)
        rc = check_nic(notes, &nics->at[i], claim, err);
    return rc;
}
