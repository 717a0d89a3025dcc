/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/quota.h"

#include "base/memory.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    unsigned eighths; /* of all connections */
    unsigned share;   /* of one holder */
} classes[CLASSES] = {
    [CLASS_USERS] = {1, QUOTA_SHARE},
    [CLASS_NODES] = {3, QUOTA_SHARE},
    [CLASS_BEARERS] = {1, QUOTA_SHARE},
    [CLASS_UNAUTHENTICATED] = {2, QUOTA_UNAUTHENTICATED_SHARE},
};

struct quota_share {
    LIST_ENTRY(quota_share) link;
    struct quota_holder holder;
    unsigned taken;
};

void quota_init(struct quota *quota, unsigned max)
{
    *quota = (struct quota){.max = max};
    for (int i = 0; i < CLASSES; i++)
        TAILQ_INIT(&quota->classes[i].slots);
}

struct quota_holder quota_user(uint32_t uid)
{
    struct quota_holder holder = {.which = CLASS_USERS, .id[16] = 1 /* no address */};
    memcpy(holder.id, &uid, sizeof uid);
    return holder;
}

struct quota_holder quota_bearer(uint64_t number)
{
    struct quota_holder holder = {.which = CLASS_BEARERS};
    memcpy(holder.id, &number, sizeof number);
    return holder;
}

struct quota_holder quota_address(enum quota_class which, const struct sockaddr *address)
{
    struct quota_holder holder = {.which = which};
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        memcpy(holder.id, &v6.sin6_addr, IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? 16 : 8);
    } else if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        holder.id[10] = holder.id[11] = 0xff;
        memcpy(holder.id + 12, &v4.sin_addr, 4);
    }
    return holder;
}

uint32_t quota_hash(const struct quota_holder *holder, uint32_t seed)
{
    uint32_t hash = (2166136261u ^ seed ^ holder->which) * 16777619u;
    for (size_t i = 0; i < sizeof holder->id; i++)
        hash = (hash ^ holder->id[i]) * 16777619u;
    return hash >> 16 ^ hash;
}

static struct quota_share *find_share(const struct quota *quota, const struct quota_holder *holder)
{
    struct quota_share *share = NULL;
    LIST_FOREACH(share, &quota->shares[quota_hash(holder, 0) % QUOTA_LISTS], link)
    if (share->holder.which == holder->which &&
        memcmp(share->holder.id, holder->id, sizeof holder->id) == 0)
        break;
    return share;
}

static struct quota_share *add_share(struct quota *quota, const struct quota_holder *holder)
{
    struct quota_share *share = memory_zeroed(sizeof *share);
    share->holder = *holder;
    LIST_INSERT_HEAD(&quota->shares[quota_hash(holder, 0) % QUOTA_LISTS], share, link);
    return share;
}

static unsigned class_max(const struct quota *quota, enum quota_class which)
{
    return (unsigned)((uint64_t)quota->max * classes[which].eighths / 8);
}

static bool is_full(const struct quota_share *share)
{
    return share && share->taken >= classes[share->holder.which].share;
}

bool quota_take_share(struct quota *quota, struct quota_slot *slot,
                      const struct quota_holder *holder)
{
    struct quota_count *count = &quota->classes[holder->which];
    struct quota_share *share = find_share(quota, holder);
    assert(!slot->share);
    if (quota->taken >= quota->max || count->taken >= class_max(quota, holder->which) ||
        is_full(share))
        return false;
    if (!share)
        share = add_share(quota, holder);
    share->taken++;
    count->taken++;
    quota->taken++;
    *slot = (struct quota_slot){.share = share};
    quota_wait(quota, slot);
    return true;
}

bool quota_take(struct quota *quota)
{
    return ++quota->taken <= quota->max;
}

void quota_release(struct quota *quota, struct quota_slot *slot)
{
    struct quota_share *share = slot->share;
    assert(quota->taken > 0);
    quota_serve(quota, slot); /* out of the list */
    *slot = (struct quota_slot){0};
    quota->taken--;
    if (!share)
        return;
    quota->classes[share->holder.which].taken--;
    if (--share->taken > 0)
        return;
    LIST_REMOVE(share, link);
    free(share);
}

struct quota_slot *quota_displaced(const struct quota *quota, const struct quota_holder *newcomer)
{
    const struct quota_share *own = find_share(quota, newcomer);
    struct quota_slot *slot = NULL, *found = NULL;
    unsigned most = 0;
    TAILQ_FOREACH(slot, &quota->classes[newcomer->which].slots, link)
    {
        const unsigned taken = slot->share->taken + (slot->share == own);
        if (taken <= most || (is_full(own) && slot->share != own))
            continue;
        found = slot;
        most = taken;
    }
    return found;
}

bool quota_crowded(const struct quota *quota, const struct quota_slot *slot)
{
    if (!slot->share)
        return false;
    const enum quota_class which = slot->share->holder.which;
    const struct quota_count *count = &quota->classes[which];
    return 2 * (count->taken - count->idle) > class_max(quota, which);
}

void quota_serve(struct quota *quota, struct quota_slot *slot)
{
    if (!slot->idle)
        return;
    struct quota_count *count = &quota->classes[slot->share->holder.which];
    TAILQ_REMOVE(&count->slots, slot, link);
    count->idle--;
    slot->idle = false;
}

void quota_wait(struct quota *quota, struct quota_slot *slot)
{
    if (!slot->share)
        return;
    quota_serve(quota, slot);
    struct quota_count *count = &quota->classes[slot->share->holder.which];
    TAILQ_INSERT_TAIL(&count->slots, slot, link);
    count->idle++;
    slot->idle = true;
}
