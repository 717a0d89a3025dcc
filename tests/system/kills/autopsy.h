#ifndef MCAST_TESTS_KILLS_AUTOPSY_H
#define MCAST_TESTS_KILLS_AUTOPSY_H

#include "tests/system/kills/scene.h"

/* What a broker makes of a damaged ledger: a copy of that of a killed one, cut short or with
 * flipped bytes, opened by a broker that has no fabric manager. It refuses with a sentence and
 * leaves the files as they are, or it serves; cut short, only when nothing acknowledged is missing.
 * SQLite keeps no checksums of its pages, and takes a damaged frame of its log for the log's end:
 * not every flip can be found. */

enum autopsy_kind { AUTOPSY_CUT, AUTOPSY_FLIPPED, AUTOPSY_FLIPPED_LOG, AUTOPSY_KINDS };

struct autopsy_counts {
    unsigned refused, whole, unnoticed; /* unnoticed: it serves, and something is different */
};

/* The broker does not run. A few copies of each kind; the scene's dice choose how they are damaged.
 * counts: AUTOPSY_KINDS of them. */
void autopsy(struct scene *scene, const char *mcastd, struct autopsy_counts *counts);

#endif
