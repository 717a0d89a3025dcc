#include "hook/cleanup.h"

#include "hook/fabric.h"
#include "hook/viabroker.h"

enum {
    BROKER_LIMIT_MS = 5000, /* while there is somebody else to ask */
    PAUSE_FIRST_MS = 250,
    PAUSE_MAX_MS = 4000,
};

/* A broker that hangs leaves time to do it without it. */
static enum outcome ask_broker(const struct surroundings *s, const struct cleanup *cleanup,
                               const struct deadline *deadline, struct error *err)
{
    const int64_t left = deadline_left(deadline);
    const int64_t wait = cleanup->wait ? left / 2 : 0;
    int64_t limit = left - wait;
    if (s->trees_url && limit / 2 < BROKER_LIMIT_MS)
        limit /= 2;
    else if (s->trees_url)
        limit = BROKER_LIMIT_MS;
    return viabroker_clean(s, cleanup->below, limit, wait, err);
}

static enum outcome ask_once(const struct surroundings *s, const struct cleanup *cleanup,
                             const struct deadline *deadline, struct error *err)
{
    struct error broker = {0};
    enum outcome outcome = OUTCOME_ABSENT;
    if (s->broker)
        outcome = ask_broker(s, cleanup, deadline, &broker);
    if (outcome != OUTCOME_ABSENT || !s->trees_url) {
        *err = broker;
        return outcome;
    }
    outcome = fabric_clean(s, cleanup->below, deadline, err);
    if (outcome != OUTCOME_DONE && s->broker)
        (void)error_prefix(err, "%.140s", broker.text);
    return outcome;
}

enum outcome cleanup_run(const struct surroundings *s, const struct cleanup *cleanup,
                         const struct deadline *deadline, struct error *err)
{
    int64_t pause = PAUSE_FIRST_MS;
    for (;;) {
        enum outcome outcome = ask_once(s, cleanup, deadline, err);
        if (outcome == OUTCOME_DONE || outcome == OUTCOME_REFUSED)
            return outcome;
        deadline_pause(deadline, pause);
        pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
        if (deadline_left(deadline) == 0)
            return outcome;
    }
}
