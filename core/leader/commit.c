/* SPDX-License-Identifier: Apache-2.0 */
#include "core/leader/commit.h"

#include <assert.h>

enum commit_verdict commit_judge(const struct commit_guard *guard, const struct commit_seen *seen)
{
    assert(guard->lease != 0 && guard->revision > 0 && guard->commit > 0);
    if (seen->held)
        return COMMIT_DONE;
    /* An earlier copy was carried out, and its answer got lost. */
    if (seen->revision == guard->revision && seen->lease == guard->lease &&
        seen->commit == guard->commit)
        return COMMIT_DONE;
    return COMMIT_DEPOSED;
}
