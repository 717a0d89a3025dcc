/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/places.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct share {
    LIST_ENTRY(share) link;
    struct holder holder;
    unsigned taken, waiting_count;
    TAILQ_HEAD(place_list, place)
    waiting; /* those that keep the broker waiting, the oldest first */
};

struct holder holder_of_user(uint32_t uid)
{
    struct holder holder = {.kind = HOLDER_USER};
    memcpy(holder.who, &uid, sizeof uid);
    return holder;
}

struct holder holder_of_bearer(uint64_t number)
{
    struct holder holder = {.kind = HOLDER_BEARER};
    memcpy(holder.who, &number, sizeof number);
    return holder;
}

struct holder holder_of_address(enum holder_kind kind, const struct sockaddr *address)
{
    struct holder holder = {.kind = kind};
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        memcpy(holder.who, &v6.sin6_addr, IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? 16 : 8);
    } else if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        holder.who[10] = holder.who[11] = 0xff;
        memcpy(holder.who + 12, &v4.sin_addr, 4);
    }
    return holder;
}

bool holder_equal(const struct holder *a, const struct holder *b)
{
    return a->kind == b->kind && memcmp(a->who, b->who, sizeof a->who) == 0;
}

/* A list: as many as there are users, addresses and reservations without a role connected at this
 * moment. */
static struct share *share_find(const struct places *places, const struct holder *holder)
{
    struct share *share = LIST_FIRST(&places->shares);
    while (share && !holder_equal(&share->holder, holder))
        share = LIST_NEXT(share, link);
    return share;
}

static struct share *share_of(struct places *places, const struct holder *holder)
{
    struct share *share = share_find(places, holder);
    if (share)
        return share;
    share = calloc(1, sizeof *share);
    if (!share)
        return NULL;
    share->holder = *holder;
    TAILQ_INIT(&share->waiting);
    LIST_INSERT_HEAD(&places->shares, share, link);
    return share;
}

static enum places_class class_of(enum holder_kind kind)
{
    switch (kind) {
    case HOLDER_NODE:
        return CLASS_NODES;
    case HOLDER_BEARER:
        return CLASS_BEARERS;
    case HOLDER_UNAUTHENTICATED:
        return CLASS_UNAUTHENTICATED;
    case HOLDER_USER:
    case HOLDER_ADDRESS:
        break;
    }
    return CLASS_USERS;
}

unsigned places_class_max(const struct places *places, enum places_class which)
{
    static const unsigned eighths[CLASSES] = {
        [CLASS_USERS] = 1, [CLASS_NODES] = 3, [CLASS_BEARERS] = 1, [CLASS_UNAUTHENTICATED] = 2};
    return (unsigned)((uint64_t)places->max * eighths[which] / 8);
}

static unsigned share_max(enum holder_kind kind)
{
    return kind == HOLDER_UNAUTHENTICATED ? PLACES_UNAUTHENTICATED_SHARE : PLACES_SHARE;
}

static bool is_full(const struct share *share)
{
    return share && share->taken >= share_max(share->holder.kind);
}

bool places_take_share(struct places *places, struct place *place, const struct holder *holder,
                       uint64_t now_ms)
{
    const enum places_class which = class_of(holder->kind);
    assert(!place->share);
    if (places->taken >= places->max || places->count[which] >= places_class_max(places, which) ||
        is_full(share_find(places, holder)))
        return false;
    struct share *share = share_of(places, holder);
    if (!share)
        return false;
    share->taken++;
    places->count[which]++;
    places->taken++;
    *place = (struct place){.share = share};
    place_waits(place, now_ms);
    return true;
}

struct place *places_displaced(const struct places *places, const struct holder *newcomer)
{
    const struct share *own = share_find(places, newcomer);
    const struct share *most = NULL;
    unsigned most_taken = 0;
    if (is_full(own))
        return TAILQ_FIRST(&own->waiting);
    /* The list begins with who came last: of equals the first is taken. */
    for (const struct share *share = LIST_FIRST(&places->shares); share;
         share = LIST_NEXT(share, link)) {
        const struct place *oldest = TAILQ_FIRST(&share->waiting);
        if (!oldest || class_of(share->holder.kind) != class_of(newcomer->kind))
            continue;
        const unsigned taken = share->taken + (share == own);
        if (taken > most_taken ||
            (taken == most_taken && oldest->since_ms <= TAILQ_FIRST(&most->waiting)->since_ms)) {
            most = share;
            most_taken = taken;
        }
    }
    return most ? TAILQ_FIRST(&most->waiting) : NULL;
}

bool places_take(struct places *places)
{
    return ++places->taken <= places->max;
}

void places_give_back(struct places *places, struct place *place)
{
    struct share *share = place->share;
    assert(places->taken > 0);
    place_works(place); /* out of the list */
    *place = (struct place){0};
    places->taken--;
    if (!share)
        return;
    places->count[class_of(share->holder.kind)]--;
    if (--share->taken > 0)
        return;
    LIST_REMOVE(share, link);
    free(share);
}

bool places_crowded(const struct places *places, const struct place *place)
{
    if (!place->share)
        return false;
    const enum places_class which = class_of(place->share->holder.kind);
    unsigned worked_for = 0;
    const struct share *share;
    LIST_FOREACH(share, &places->shares, link)
    worked_for += class_of(share->holder.kind) == which ? share->taken - share->waiting_count : 0;
    return 2 * worked_for > places_class_max(places, which);
}

void place_works(struct place *place)
{
    if (!place->waiting)
        return;
    TAILQ_REMOVE(&place->share->waiting, place, link);
    place->share->waiting_count--;
    place->waiting = false;
}

void place_waits(struct place *place, uint64_t now_ms)
{
    if (!place->share)
        return;
    place_works(place);
    place->waiting = true;
    place->share->waiting_count++;
    place->since_ms = now_ms;
    TAILQ_INSERT_TAIL(&place->share->waiting, place, link);
}
