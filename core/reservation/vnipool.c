/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/vnipool.h"

#include <assert.h>

static const uint16_t default_service[] = {1, 10};

bool vnipool_is_systems(uint16_t vni)
{
    bool is = false;
    for (size_t i = 0; i < sizeof default_service / sizeof *default_service; i++)
        is |= vni == default_service[i];
    return is;
}

uint32_t vnipool_usable(const struct idset *set)
{
    uint32_t usable = set->count;
    for (size_t i = 0; i < sizeof default_service / sizeof *default_service; i++)
        usable -= idset_has(set, default_service[i]);
    return usable;
}

/* What is in the pool and neither foreign, live nor quarantined: free, or suspect. */
static void find_free(struct vnipool *p)
{
    struct idset known = p->free;
    p->free = p->suspect = (struct idset){.count = 0};
    for (int vni = idset_next(&p->pool, 0), first = vni; vni >= 0;) {
        if (!idset_has(&p->live, (uint16_t)vni) && !idset_has(&p->quarantined, (uint16_t)vni) &&
            !idset_has(&p->foreign, (uint16_t)vni))
            idset_add(!p->suspicious || idset_has(&known, (uint16_t)vni) ? &p->free : &p->suspect,
                      (uint16_t)vni);
        vni = idset_next(&p->pool, (uint32_t)vni + 1);
        if (vni == first)
            break;
    }
    assert(p->free.count + p->suspect.count <= p->pool.count);
}

void vnipool_begin_suspicion(struct vnipool *p)
{
    p->free = (struct idset){.count = 0};
    p->suspicious = true;
    find_free(p);
    assert(p->free.count == 0);
}

void vnipool_end_suspicion(struct vnipool *p)
{
    assert(p->suspicious);
    p->suspicious = false;
    find_free(p);
}

void vnipool_configure(struct vnipool *p, const struct idset *set)
{
    assert(set);
    p->pool = *set;
    for (size_t i = 0; i < sizeof default_service / sizeof *default_service; i++)
        idset_remove(&p->pool, default_service[i]);
    find_free(p);
}

void vnipool_set_foreign(struct vnipool *p, const struct idset *foreign)
{
    assert(foreign);
    p->foreign = *foreign;
    find_free(p);
}

/* Half the pool behind those whose turn it is, and behind its end from its beginning on. */
static uint32_t opposite(const struct vnipool *p)
{
    assert(p->pool.count > 0);
    uint32_t from = p->after + p->pool.count / 2;
    bool past_end = idset_next(&p->pool, from) < (int)from;
    return past_end ? from - p->pool.count : from;
}

bool vnipool_pick(const struct vnipool *p, unsigned count, bool far, uint16_t *vnis)
{
    assert(vnis);
    if (p->free.count < count)
        return false;
    uint32_t from = far && count > 0 ? opposite(p) : p->after;
    const struct idset *free = &p->free;
    struct idset sure;
    if (p->doubtful.count > 0) {
        sure = p->free;
        idset_remove_all(&sure, &p->doubtful);
        free = sure.count >= count ? &sure : free;
    }
    for (unsigned i = 0; i < count; i++) {
        int vni = idset_next(free, from);
        assert(vni >= 0);
        vnis[i] = (uint16_t)vni;
        from = (uint32_t)vni + 1;
    }
    return true;
}

static bool move_free(struct vnipool *p, uint16_t vni, struct idset *to)
{
    assert(!idset_has(&p->free, vni) || idset_has(&p->pool, vni));
    if (idset_has(&p->live, vni) || idset_has(&p->quarantined, vni))
        return false;
    idset_remove(&p->free, vni);
    idset_remove(&p->suspect, vni);
    idset_add(to, vni);
    return true;
}

bool vnipool_take(struct vnipool *p, uint16_t vni)
{
    return move_free(p, vni, &p->live);
}

bool vnipool_quarantine(struct vnipool *p, uint16_t vni)
{
    return move_free(p, vni, &p->quarantined);
}

void vnipool_drop(struct vnipool *p, uint16_t vni, bool known)
{
    assert(!idset_has(&p->live, vni) || !idset_has(&p->quarantined, vni));
    idset_remove(&p->live, vni);
    idset_remove(&p->quarantined, vni);
    if (idset_has(&p->pool, vni) && !idset_has(&p->foreign, vni))
        idset_add(p->suspicious && !known ? &p->suspect : &p->free, vni);
}
