/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the answer to a guarded commit means (B7). Each commit of a leader is one transaction with
 * two guards: the leader key is the one that this leader created (its revision), and the sequence
 * key has the number of the commit before. It raises that number. So of all copies of it that are
 * on their way, at most one is carried out, and none after a later commit or under another leader.
 */

/* The sequence key holds "<lease>:<commit>": the lease in 16 hexadecimal digits, the number in
 * decimal ones. Winning the election sets commit 0. */
struct commit_guard {
    uint64_t lease;    /* of the leader */
    uint64_t revision; /* at which its leader key was created */
    uint64_t commit;   /* the number of this commit, from 1 */
};

/* The answer: whether the guards held, and if not what the two keys are. */
struct commit_seen {
    bool held;
    uint64_t revision; /* of the leader key; 0: there is none */
    uint64_t lease;    /* of the sequence key; 0: there is none, or it is no such text */
    uint64_t commit;
};

enum commit_verdict {
    COMMIT_DONE,
    COMMIT_DEPOSED, /* not this leader any more: no copy of it will be carried out from now on. That
                       none was is not known, when an earlier try was not answered */
};

/* An answer that did not come says nothing: the same bytes are sent again until one comes, or
 * until the lease's deadline, after which it is not known and the leader has ended. */
enum commit_verdict commit_judge(const struct commit_guard *guard, const struct commit_seen *seen);
