#ifndef MCAST_CLIENT_ALARMS_H
#define MCAST_CLIENT_ALARMS_H

/* Who is due next: a heap. Each that can be due has a struct alarm in it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarm {
    int64_t due_ms;
    size_t place; /* in the heap, from 1; 0: it is not set */
    void *owner;
};

struct alarms {
    struct alarm **heap; /* heap[0] is not used */
    size_t count, room;
};

/* Room for so many, so that alarms_set cannot fail. False: memory is exhausted. */
bool alarms_reserve(struct alarms *alarms, size_t count);
void alarms_release(struct alarms *alarms);

/* Sets it, or sets it anew. Logarithmic. */
void alarms_set(struct alarms *alarms, struct alarm *alarm, int64_t due_ms);
/* Nothing when it is not set. */
void alarms_unset(struct alarms *alarms, struct alarm *alarm);

/* The one due first, or NULL. */
struct alarm *alarms_first(const struct alarms *alarms);

#endif
