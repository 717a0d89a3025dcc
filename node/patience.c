#include "node/patience.h"

#include <errno.h>
#include <stddef.h>
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

const struct patience_clock patience_real = {now_ms, wait_ms, NULL};

void patience_begin(struct patience *patience, const struct patience_clock *clock,
                    int64_t budget_ms)
{
    patience->clock = clock;
    patience->end_ms = clock->now_ms(clock->arg) + budget_ms;
    patience->pause_ms = PATIENCE_FIRST_MS;
}

int64_t patience_left_ms(const struct patience *patience)
{
    return patience->end_ms - patience->clock->now_ms(patience->clock->arg);
}

bool patience_again(struct patience *patience)
{
    const struct patience_clock *clock = patience->clock;
    int64_t left = patience_left_ms(patience);
    if (left <= 0)
        return false;
    clock->wait_ms(clock->arg, left < patience->pause_ms ? left : patience->pause_ms);
    patience->pause_ms *= 2;
    if (patience->pause_ms > PATIENCE_LONGEST_MS)
        patience->pause_ms = PATIENCE_LONGEST_MS;
    return true;
}
