#ifndef MCAST_HOOK_OUTCOME_H
#define MCAST_HOOK_OUTCOME_H

/* What came of asking somebody to remove a step's trees, from good to bad. Of all but DONE there is
 * a sentence beside it. */

enum outcome {
    OUTCOME_DONE,    /* they are gone, or the broker sees to it */
    OUTCOME_PENDING, /* the broker sees to it, and they were to be gone by now */
    OUTCOME_REFUSED, /* a definite no, to this and to the same question later */
    OUTCOME_LATER,   /* too busy: the same one may be asked again */
    OUTCOME_ABSENT, /* no answer, or not one to count on: another may be asked, or this one again */
};

#endif
