/* SPDX-License-Identifier: Apache-2.0 */
/* Which failures say "not now" rather than "no", to programs and to scripts. */

#include "client/transport/broker.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

static bool is(const struct mcast_error *error, const char *word)
{
    return strcmp(error->word, word) == 0;
}

static bool is_later(const struct mcast_error *error)
{
    switch (error->code) {
    case MCAST_UNREACHABLE:
        return is(error, "no-connection") || is(error, "broken") || is(error, "timeout");
    case MCAST_REFUSED: /* three answers with 503 are about the job: again the same */
        return error->status == 429 ||
               (error->status == 503 && !is(error, "vnis-exhausted") &&
                !is(error, "partition-keys-exhausted") && !is(error, "hwcoll-required"));
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
        return is(error, "no-such-event") ? MCAST_EXIT_NOT_FOUND : MCAST_EXIT_REFUSED;
    }
}

/* ---- how long until then ---- */

enum { FIRST_MS = 50, LONGEST_MS = 1000 };

unsigned later_after(unsigned after_ms)
{
    return after_ms < LATER_AFTER_MAX_MS ? after_ms : LATER_AFTER_MAX_MS;
}

unsigned later_pause(struct later *later, unsigned after_ms)
{
    unsigned next = later->last_ms > 0 ? later->last_ms * 2 : FIRST_MS;
    later->last_ms = next < LONGEST_MS ? next : LONGEST_MS;
    if (later->random == 0)
        (void)!getrandom(&later->random, sizeof later->random, GRND_NONBLOCK); /* none at boot */
    later->random = later->random * 1103515245U + 12345U;
    return later_after(after_ms) + later->last_ms / 2 +
           (later->random >> 16) % (later->last_ms / 2 + 1);
}

int64_t later_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
