/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the objects on disk: one line of JSON per change, appended and replayed at the next start.
 *
 * A change is handed to the kernel before its answer leaves, so nothing acknowledged is lost when
 * the process is killed. (A loss of power is another matter: nothing is synchronised but the
 * compaction.) The file holds session tokens and is readable by its owner only. */
#pragma once

#include "mock-fm/objects/objects.h"
#include "mock-fm/http/message.h"

struct journal;

/* Opens or creates the file, replays it into the (empty) objects and rewrites it as short as can
 * be. A last line cut short by a kill is dropped: it was never acknowledged. NULL with a problem
 * when the file cannot be used, is damaged, or another mock-fm has it open. `objects` must outlive
 * the journal. */
struct journal *journal_open(const char *path, struct objects *objects, struct problem *problem);

/* 0, or -1 with a 500; then nothing was written. Rewrites the file first when it has grown long. */
int journal_append(struct journal *journal, json_t *change, struct problem *problem);

/* Takes NULL. */
void journal_close(struct journal *journal);
