/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply.h"

#include "base/memory.h"
#include "core/emit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Records of VNIs that are of no one job: shared ones (B1), and those of other partitions (B2). */

static int refuse(struct error *err, const struct shared_vni_record *rec, const char *why)
{
    return error_set(err, ERROR_CORRUPT, "shared VNI %u (%s) %s", rec->vni, rec->name, why);
}

static bool take_vni(struct core *core, const struct shared_vni_record *rec)
{
    assert(core);
    return rec->state == SHARED_QUARANTINED ? vnipool_quarantine(&core->vnis, rec->vni)
                                            : vnipool_take(&core->vnis, rec->vni);
}

static struct shared_vni *append(struct shared_vnis *shared)
{
    assert(shared);
    struct shared_vni **at = &shared->first;
    while (*at)
        at = &(*at)->next;
    shared->count++;
    *at = memory_zeroed(sizeof **at);
    return *at;
}

/* Effects of this step may point at the old one. */
static void replace(struct core *core, const char **text, const char *with)
{
    assert(core);
    if (*text == with)
        return;
    char *copy = memory_text(with);
    core_discard(core, (void *)(uintptr_t)*text);
    *text = copy;
}

int core_apply_shared(struct core *core, const struct shared_vni_record *rec, struct error *err)
{
    assert(core);
    struct shared_vni *one = shared_by_vni(&core->shared, rec->vni);
    const struct shared_vni *named = shared_by_name(&core->shared, rec->name);
    const bool removed = rec->state == SHARED_QUARANTINED;
    if (!removed && named && named != one)
        return refuse(err, rec, "has the name of another one");
    if (one &&
        ((one->record.state == SHARED_QUARANTINED && !removed) || (removed && one->active > 0)))
        return refuse(err, rec, "is in use, or was removed");
    if (!one) {
        if (!take_vni(core, rec))
            return refuse(err, rec, "has a VNI that another one has too");
        one = append(&core->shared);
        if (core->now_ms != 0) /* else facts and reservations tell where the round goes on */
            core->vnis.after = (uint32_t)rec->vni + 1;
    } else if (removed && one->record.state != SHARED_QUARANTINED) {
        vnipool_drop(&core->vnis, rec->vni, true);
        (void)vnipool_quarantine(&core->vnis, rec->vni);
    }
    struct shared_vni_record *kept = &one->record;
    const char *name = kept->name, *users = kept->users, *clusters = kept->clusters;
    replace(core, &name, rec->name);
    replace(core, &users, rec->users);
    replace(core, &clusters, rec->clusters);
    *kept = *rec;
    kept->name = name, kept->users = users, kept->clusters = clusters;
    core->shared.changed = true;
    return 0;
}

int core_apply_shared_gone(struct core *core, uint16_t vni, struct error *err)
{
    assert(core);
    struct shared_vni *one = shared_by_vni(&core->shared, vni);
    struct shared_vni **at = &core->shared.first;
    if (!one || one->active > 0 || one->quarantined > 0)
        return error_set(err, ERROR_CORRUPT, "shared VNI %u is gone, but was in use or not there",
                         vni);
    vnipool_drop(&core->vnis, vni, false);
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    core->shared.count--;
    core_discard(core, (void *)(uintptr_t)one->record.name);
    core_discard(core, (void *)(uintptr_t)one->record.users);
    core_discard(core, (void *)(uintptr_t)one->record.clusters);
    core_discard(core, one);
    return 0;
}

int core_apply_partitions(struct core *core, const char *text, struct error *err)
{
    assert(core);
    struct partitions others = {0};
    struct idset vnis;
    const int rc = partitions_parse(&others, text, err);
    if (rc < 0) {
        partitions_release(&others);
        return rc;
    }
    partitions_union(&others, &vnis);
    vnipool_set_foreign(&core->vnis, &vnis);
    partitions_release(&core->foreign.others);
    core->foreign.others = others;
    char *copy = memory_text(text);
    core_discard(core, core->foreign.text);
    core->foreign.text = copy;
    return 0;
}

void core_release_shared(struct core *core)
{
    assert(core);
    for (struct shared_vni *one = core->shared.first, *next; one; one = next) {
        next = one->next;
        free((void *)(uintptr_t)one->record.name);
        free((void *)(uintptr_t)one->record.users);
        free((void *)(uintptr_t)one->record.clusters);
        free(one);
    }
    partitions_release(&core->foreign.others);
    free(core->foreign.text);
}
