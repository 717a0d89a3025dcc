/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/arrivals.h"

#include "broker/http/listen/quota.h"
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

void arrivals_init(struct arrivals *arrivals, unsigned max, uint32_t seed)
{
    arrivals->max = max;
    arrivals->seed = seed;
    TAILQ_INIT(&arrivals->turns);
}

static struct arrival_list *list_of(struct arrivals *arrivals, const struct sockaddr_storage *from)
{
    const struct quota_holder holder =
        quota_address(CLASS_UNAUTHENTICATED, (const struct sockaddr *)from);
    return &arrivals->lists[quota_hash(&holder, arrivals->seed) % ARRIVALS_LISTS];
}

/* It goes on giving until it has no more than its share: thousands need not be compared each time.
 */
static struct arrival_list *giving_list(struct arrivals *arrivals)
{
    struct arrival_list *list = NULL, *longest = arrivals->giving;
    if (longest && longest->count > ARRIVALS_SHARE)
        return longest;
    longest = TAILQ_FIRST(&arrivals->turns);
    TAILQ_FOREACH(list, &arrivals->turns, turn)
    if (list->count > longest->count)
        longest = list;
    return arrivals->giving = longest;
}

bool arrivals_may_add(struct arrivals *arrivals)
{
    return arrivals->count < arrivals->max ||
           (arrivals->max > 0 && giving_list(arrivals)->count > ARRIVALS_SHARE);
}

static struct arrival *take_from(struct arrivals *arrivals, struct arrival_list *list,
                                 struct arrival *arrival)
{
    assert(list->count > 0 && arrivals->count > 0);
    TAILQ_REMOVE(&list->waiting, arrival, link);
    arrivals->count--;
    if (--list->count == 0)
        TAILQ_REMOVE(&arrivals->turns, list, turn);
    return arrival;
}

bool arrivals_add(struct arrivals *arrivals, int fd, const struct sockaddr_storage *address,
                  socklen_t length)
{
    struct arrival_list *list = list_of(arrivals, address);
    const bool full = arrivals->count >= arrivals->max;
    struct arrival *arrival = memory_zeroed(sizeof *arrival);
    *arrival = (struct arrival){.fd = fd, .length = length, .address = *address};
    if (list->count++ == 0) {
        TAILQ_INIT(&list->waiting);
        TAILQ_INSERT_TAIL(&arrivals->turns, list, turn);
    }
    TAILQ_INSERT_TAIL(&list->waiting, arrival, link);
    arrivals->count++;
    if (!full)
        return true;
    list = giving_list(arrivals);
    arrival = take_from(arrivals, list, TAILQ_LAST(&list->waiting, arrival_waiting));
    close(arrival->fd);
    free(arrival);
    return false;
}

int arrivals_take(struct arrivals *arrivals, struct sockaddr_storage *address, socklen_t *length)
{
    struct arrival_list *list = TAILQ_FIRST(&arrivals->turns);
    if (!list)
        return -1;
    struct arrival *arrival = take_from(arrivals, list, TAILQ_FIRST(&list->waiting));
    if (list->count > 0) {
        TAILQ_REMOVE(&arrivals->turns, list, turn);
        TAILQ_INSERT_TAIL(&arrivals->turns, list, turn);
    }
    const int fd = arrival->fd;
    *address = arrival->address;
    *length = arrival->length;
    free(arrival);
    return fd;
}

void arrivals_clear(struct arrivals *arrivals)
{
    struct sockaddr_storage address;
    socklen_t length;
    for (int fd; (fd = arrivals_take(arrivals, &address, &length)) >= 0;)
        close(fd);
}
