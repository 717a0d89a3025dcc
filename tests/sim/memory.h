#ifndef MCAST_SIM_MEMORY_H
#define MCAST_SIM_MEMORY_H

#include <stddef.h>

/* Memory of the simulator itself: it never runs out, or the run ends with a message. */

void *memory_zeroed(size_t size);
void *memory_resized(void *old, size_t count, size_t size);
char *memory_text(const char *text); /* NULL gives NULL */

/* Makes room for one more element of the array. */
#define MEMORY_GROW(array, count, room)                                                            \
    do {                                                                                           \
        if ((count) == (room)) {                                                                   \
            (room) = (room) ? 2 * (room) : 16;                                                     \
            (array) = memory_resized((array), (room), sizeof *(array));                            \
        }                                                                                          \
    } while (0)

#endif
