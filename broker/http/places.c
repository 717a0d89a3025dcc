#include "broker/http/places.h"

#include <stdlib.h>

struct share {
    struct share *prev, *next;
    uint32_t uid;
    unsigned taken;
};

/* A list: as many as there are uids without a role connected at this moment. */
static struct share *share_of(struct places *places, uint32_t uid)
{
    struct share *share = places->shares;
    while (share && share->uid != uid)
        share = share->next;
    if (share)
        return share;
    share = calloc(1, sizeof *share);
    if (!share)
        return NULL;
    share->uid = uid;
    share->next = places->shares;
    if (share->next)
        share->next->prev = share;
    places->shares = share;
    return share;
}

struct share *places_take_share(struct places *places, uint32_t uid)
{
    if (places->taken >= places->max || places->common >= places->max / 2)
        return NULL;
    struct share *share = share_of(places, uid);
    if (!share || share->taken == PLACES_SHARE)
        return NULL;
    share->taken++;
    places->common++;
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
    places->common--;
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
