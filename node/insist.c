#include "node/insist.h"

#include <string.h>
#include <sys/random.h>

/* Those who were put off together must not come again together. */
enum { FIRST_MS = 500, SPREAD_MS = 1000 };

void insist_begin(struct insist *insist, const struct node *node)
{
    uint32_t chance = 0;
    (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK); /* early in the boot: none */
    patience_begin(&insist->patience, &patience_real, node->settings.busy_ms);
    insist->patience.pause_ms = FIRST_MS + chance % SPREAD_MS;
}

bool insist_is_busy(const struct mcast_error *error)
{
    if (error->code == MCAST_UNREACHABLE)
        return strcmp(error->word, "timeout") == 0 || strcmp(error->word, "broken") == 0;
    return error->status == 503 || error->status == 429;
}

bool insist_again(struct insist *insist, const struct mcast_error *error)
{
    return insist_is_busy(error) && patience_again(&insist->patience);
}
