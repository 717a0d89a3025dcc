#include "node/insist.h"

#include "node/say.h"

#include <string.h>
#include <sys/random.h>

/* Those who were put off together must not come again together. */
enum {
    FIRST_MS = 500,
    SPREAD_MS = 1000,
    AFTER_MAX_MS = 60000, /* of what the answer asks for: a proxy may say an hour */
};

void insist_begin(struct insist *insist, const struct node *node, bool for_absent)
{
    uint32_t chance = 0;
    (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK); /* early in the boot: none */
    *insist = (struct insist){.for_absent = for_absent};
    patience_begin(&insist->patience, &patience_real, node->settings.busy_ms);
    insist->patience.pause_ms = FIRST_MS + chance % SPREAD_MS;
}

static bool is_absent(const struct mcast_error *error)
{
    return error->code == MCAST_UNREACHABLE && strcmp(error->word, "no-connection") == 0;
}

bool insist_again(struct insist *insist, const struct mcast_error *error)
{
    unsigned int after_ms;
    struct patience *patience = &insist->patience;
    if (!mcast_later(error, &after_ms) || (is_absent(error) && !insist->for_absent) ||
        patience_left_ms(patience) <= 0)
        return false;
    /* That many come at once is nothing to tell; that nobody is there may be. */
    if (is_absent(error) && !insist->said)
        say("warning: %s; it is asked again for %lld s", error->text,
            (long long)(patience_left_ms(patience) + 999) / 1000);
    insist->said |= is_absent(error);
    if (after_ms > AFTER_MAX_MS)
        after_ms = AFTER_MAX_MS;
    if (patience->pause_ms < after_ms)
        patience->pause_ms = after_ms;
    return patience_again(patience);
}
