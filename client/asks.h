#ifndef MCAST_CLIENT_ASKS_H
#define MCAST_CLIENT_ASKS_H

/* The requests of one asynchronous handle that have no answer yet, found by their numbers. A number
 * is not used again: whoever asks for one that is over finds nothing. */

#include <stddef.h>
#include <stdint.h>

struct ask;

struct asks_place {
    struct ask *ask;     /* NULL: free */
    uint32_t generation; /* how often it was taken */
    uint32_t next;       /* free place after this one, from 1; 0: none */
};

struct asks {
    struct asks_place *places;
    size_t room, count;
    uint32_t free; /* a free place, from 1; 0: none */
};

void asks_release(struct asks *asks);

/* Its number; 0: memory is exhausted. */
uint64_t asks_add(struct asks *asks, struct ask *ask);
/* NULL: there is none. */
struct ask *asks_find(const struct asks *asks, uint64_t number);
void asks_remove(struct asks *asks, uint64_t number);
/* The first one from this place on, which is set to it; NULL: there is none. */
struct ask *asks_next(const struct asks *asks, size_t *from);

#endif
