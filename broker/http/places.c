#include "broker/http/places.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct share {
    struct share *prev, *next;
    struct holder holder;
    unsigned taken;
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

const struct holder *share_holder(const struct share *share)
{
    return &share->holder;
}

/* A list: as many as there are users, addresses and reservations without a role connected at this
 * moment. */
static struct share *share_find(const struct places *places, const struct holder *holder)
{
    struct share *share = places->shares;
    while (share && !holder_equal(&share->holder, holder))
        share = share->next;
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
    share->next = places->shares;
    if (share->next)
        share->next->prev = share;
    places->shares = share;
    return share;
}

static unsigned *kind_count(struct places *places, enum holder_kind kind)
{
    return kind == HOLDER_STRANGER ? &places->strangers
           : kind == HOLDER_BEARER ? &places->bearers
                                   : &places->common;
}

static unsigned kind_max(const struct places *places, enum holder_kind kind)
{
    return places->max / (kind == HOLDER_STRANGER ? 4 : kind == HOLDER_BEARER ? 8 : 2);
}

static unsigned share_max(enum holder_kind kind)
{
    return kind == HOLDER_STRANGER ? PLACES_STRANGER_SHARE : PLACES_SHARE;
}

bool places_share_full(const struct places *places, const struct holder *holder)
{
    const struct share *share = share_find(places, holder);
    return share && share->taken >= share_max(holder->kind);
}

struct share *places_take_share(struct places *places, const struct holder *holder)
{
    unsigned *together = kind_count(places, holder->kind);
    if (places->taken >= places->max || *together >= kind_max(places, holder->kind) ||
        places_share_full(places, holder))
        return NULL;
    struct share *share = share_of(places, holder);
    if (!share)
        return NULL;
    share->taken++;
    ++*together;
    places->taken++;
    return share;
}

bool places_take(struct places *places)
{
    return ++places->taken <= places->max;
}

void places_give_back(struct places *places, struct share *share)
{
    places->taken--;
    if (!share)
        return;
    --*kind_count(places, share->holder.kind);
    if (--share->taken > 0)
        return;
    if (share->prev)
        share->prev->next = share->next;
    else
        places->shares = share->next;
    if (share->next)
        share->next->prev = share->prev;
    free(share);
}
