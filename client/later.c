/* Which failures say "not now" rather than "no", to programs and to scripts. */

#include "client/mcast.h"

#include <stddef.h>
#include <string.h>

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
