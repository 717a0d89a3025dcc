/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/scene.h"

/* What a broker makes of a damaged ledger: a copy of that of a killed one, cut short or with
 * flipped bytes, opened by a broker that has no fabric manager. It refuses with a sentence and
 * leaves the files as they are, or it serves; then only when nothing acknowledged is missing, but
 * for what nothing can tell: SQLite keeps no checksums of its pages, and the last transaction of a
 * log whose index is gone, too, looks as after a power cut (state/sqlite/wal.h). */

enum postmortem_kind {
    POSTMORTEM_CUT,
    POSTMORTEM_FLIPPED,
    POSTMORTEM_CUT_LOG,
    POSTMORTEM_FLIPPED_LOG,
    POSTMORTEM_CUT_LOG_ALONE, /* these two without the log's index */
    POSTMORTEM_FLIPPED_LOG_ALONE,
    POSTMORTEM_KINDS
};

struct postmortem_counts {
    unsigned refused, whole, unnoticed; /* unnoticed: it serves, and something is different */
};

/* "cut short", … */
const char *postmortem_word(enum postmortem_kind kind);

/* The broker does not run. A few copies of each kind; the scene's dice choose how they are damaged.
 * counts: POSTMORTEM_KINDS of them. */
void postmortem(struct scene *scene, const char *mcastd, struct postmortem_counts *counts);
