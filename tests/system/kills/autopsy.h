#ifndef MCAST_TESTS_KILLS_AUTOPSY_H
#define MCAST_TESTS_KILLS_AUTOPSY_H

#include "tests/system/kills/scene.h"

/* What a broker makes of a damaged ledger: a copy of that of a killed one, cut short or with
 * flipped bytes, opened by a broker that has no fabric manager. It refuses with a sentence and
 * leaves the file as it is, or it serves; cut short, it serves only when nothing acknowledged is
 * missing. SQLite keeps no checksums of its pages, so not every flipped byte can be found. */

struct autopsy_counts {
    unsigned refused, whole, unnoticed; /* unnoticed: it serves, and something is different */
    unsigned changed;                   /* refused, and not left as it was */
};

/* The broker does not run. A few copies of each kind; the scene's dice choose how they are damaged.
 */
void autopsy(struct scene *scene, const char *mcastd, struct autopsy_counts *cut,
             struct autopsy_counts *flipped);

#endif
