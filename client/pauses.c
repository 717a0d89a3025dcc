#include "client/pauses.h"

#include <sys/random.h>

enum { FIRST_MS = 50, LONGEST_MS = 1000 };

static unsigned throw_dice(struct pauses *pauses)
{
    if (pauses->dice == 0)
        (void)!getrandom(&pauses->dice, sizeof(pauses->dice), GRND_NONBLOCK); /* or none, at boot */
    pauses->dice = pauses->dice * 1103515245U + 12345U;
    return pauses->dice >> 16;
}

unsigned pauses_after(unsigned after_ms)
{
    return after_ms < PAUSES_AFTER_MAX_MS ? after_ms : PAUSES_AFTER_MAX_MS;
}

unsigned pauses_next(struct pauses *pauses, unsigned after_ms)
{
    unsigned next = pauses->last_ms > 0 ? pauses->last_ms * 2 : FIRST_MS;
    pauses->last_ms = next < LONGEST_MS ? next : LONGEST_MS;
    return pauses_after(after_ms) + pauses->last_ms / 2 +
           throw_dice(pauses) % (pauses->last_ms / 2 + 1);
}

void pauses_end(struct pauses *pauses)
{
    pauses->last_ms = 0;
}
