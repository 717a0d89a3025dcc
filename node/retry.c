/* SPDX-License-Identifier: Apache-2.0 */
#include "node/retry.h"

#include "node/say.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int64_t now_ms(void *arg)
{
    (void)arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_ms(void *arg, int64_t ms)
{
    (void)arg;
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        continue;
}

const struct retry_clock retry_real = {now_ms, wait_ms, NULL};

void retry_begin(struct retry *retry, const struct retry_clock *clock, int64_t budget_ms)
{
    retry->clock = clock;
    retry->end_ms = clock->now_ms(clock->arg) + budget_ms;
    retry->pause_ms = RETRY_FIRST_MS;
}

int64_t retry_left_ms(const struct retry *retry)
{
    return retry->end_ms - retry->clock->now_ms(retry->clock->arg);
}

bool retry_pause(struct retry *retry)
{
    const struct retry_clock *clock = retry->clock;
    int64_t left = retry_left_ms(retry);
    if (left <= 0)
        return false;
    clock->wait_ms(clock->arg, left < retry->pause_ms ? left : retry->pause_ms);
    retry->pause_ms *= 2;
    if (retry->pause_ms > RETRY_LONGEST_MS)
        retry->pause_ms = RETRY_LONGEST_MS;
    return true;
}

/* Nodes that were refused together must not come again together. */
enum {
    BUSY_FIRST_MS = 500,
    BUSY_SPREAD_MS = 1000,
    BUSY_AFTER_MAX_MS = 60000, /* of what the answer asks for: a proxy may say an hour */
};

void broker_retry_begin(struct broker_retry *retry, int64_t busy_ms, bool for_absent)
{
    uint32_t chance = 0;
    (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK); /* early in the boot: none */
    *retry = (struct broker_retry){.for_absent = for_absent};
    retry_begin(&retry->retry, &retry_real, busy_ms);
    retry->retry.pause_ms = BUSY_FIRST_MS + chance % BUSY_SPREAD_MS;
}

static bool error_is_no_connection(const struct mcast_error *error)
{
    return error->code == MCAST_UNREACHABLE && strcmp(error->word, "no-connection") == 0;
}

bool broker_retry_again(struct broker_retry *retry, const struct mcast_error *error)
{
    unsigned int after_ms;
    struct retry *pause = &retry->retry;
    if (!mcast_later(error, &after_ms) || (error_is_no_connection(error) && !retry->for_absent) ||
        retry_left_ms(pause) <= 0)
        return false;
    /* A busy broker is normal and not logged; a broker that does not listen is logged once. */
    if (error_is_no_connection(error) && !retry->said)
        say("warning: %s; retrying for %lld s", error->text,
            (long long)(retry_left_ms(pause) + 999) / 1000);
    retry->said |= error_is_no_connection(error);
    if (after_ms > BUSY_AFTER_MAX_MS)
        after_ms = BUSY_AFTER_MAX_MS;
    if (pause->pause_ms < after_ms)
        pause->pause_ms = after_ms;
    return retry_pause(pause);
}
