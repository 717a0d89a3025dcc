/* SPDX-License-Identifier: Apache-2.0 */
/* Which failures say "not now" rather than "no", to programs and to scripts. */

#include "client/transport/later.h"
#include "client/mcast.h"

#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static bool is_one_of(const char *word, const char *const words[])
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool is_later(const struct mcast_error *error)
{
    /* The broker's 503 about the job itself: it is held or fails, as asked again it would. */
    static const char *const final[] = {"vnis-exhausted", "hwcoll-required", NULL};
    static const char *const absent[] = {"no-connection", "broken", "timeout", NULL};
    switch (error->code) {
    case MCAST_UNREACHABLE:
        return is_one_of(error->word, absent);
    case MCAST_REFUSED:
        return error->status == 429 || (error->status == 503 && !is_one_of(error->word, final));
    case MCAST_UNCLEAR: /* what stands before a broker that is away */
        return error->status >= 502 && error->status <= 504;
    default:
        return false;
    }
}

bool mcast_later(const struct mcast_error *error, unsigned *after_ms)
{
    bool later = is_later(error);
    if (after_ms)
        *after_ms = later ? error->retry_after * 1000 : 0;
    return later;
}

enum mcast_exit mcast_exit_status(const struct mcast_error *error)
{
    if (is_later(error))
        return MCAST_EXIT_NO_ANSWER;
    switch (error->code) {
    case MCAST_OK:
        return MCAST_EXIT_OK;
    case MCAST_USAGE:
        return MCAST_EXIT_USAGE;
    case MCAST_NOT_FOUND:
        return MCAST_EXIT_NOT_FOUND;
    case MCAST_UNREACHABLE:
    case MCAST_UNCLEAR:
    case MCAST_NOMEM: /* nothing was said about the request, either */
        return MCAST_EXIT_NO_ANSWER;
    default: /* an event's number that never was: as a job that is not there */
        return strcmp(error->word, "no-such-event") ? MCAST_EXIT_REFUSED : MCAST_EXIT_NOT_FOUND;
    }
}

/* ---- how long until then ---- */

enum { FIRST_MS = 50, LONGEST_MS = 1000 };

static unsigned throw_dice(struct later *later)
{
    if (later->dice == 0)
        (void)!getrandom(&later->dice, sizeof(later->dice), GRND_NONBLOCK); /* or none, at boot */
    later->dice = later->dice * 1103515245U + 12345U;
    return later->dice >> 16;
}

unsigned later_after(unsigned after_ms)
{
    return after_ms < LATER_AFTER_MAX_MS ? after_ms : LATER_AFTER_MAX_MS;
}

unsigned later_pause(struct later *later, unsigned after_ms)
{
    unsigned next = later->last_ms > 0 ? later->last_ms * 2 : FIRST_MS;
    later->last_ms = next < LONGEST_MS ? next : LONGEST_MS;
    return later_after(after_ms) + later->last_ms / 2 +
           throw_dice(later) % (later->last_ms / 2 + 1);
}

int64_t later_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
