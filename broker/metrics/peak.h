#ifndef MCAST_BROKER_METRICS_PEAK_H
#define MCAST_BROKER_METRICS_PEAK_H

#include <stdint.h>

/* The largest value of the last five minutes: a worst case that one bad moment at the start does
 * not hide for ever, and that no scraper takes away from another (B8). */

enum { PEAK_MINUTES = 5 };

/* All zero is a valid, empty one. */
struct peak {
    int64_t minute;               /* the newest slot's, counted from the clock's zero */
    int64_t values[PEAK_MINUTES]; /* largest of each minute, by minute % PEAK_MINUTES */
};

/* now_ms: any clock that does not run backwards and starts at or above 0. */
void peak_add(struct peak *peak, int64_t now_ms, int64_t value);

/* Largest value of this minute and the four before; 0: none. */
int64_t peak_value(const struct peak *peak, int64_t now_ms);

#endif
