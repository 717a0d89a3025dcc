#include "hook/viabroker.h"

#include "client/mcast.h"

#include <string.h>

enum { WAIT_MAX_MS = 60000 }; /* as mcast_cleanup has it */

static bool is(const struct mcast_error *error, const char *word)
{
    return strcmp(error->word, word) == 0;
}

static enum outcome judge(const struct mcast_error *error)
{
    if (error->code != MCAST_REFUSED)
        return OUTCOME_ABSENT;
    if (is(error, "reservation-over")) /* with all of its steps */
        return OUTCOME_DONE;
    if (is(error, "pending"))
        return OUTCOME_PENDING;
    if (is(error, "too-many-cleanups")) /* at the fabric manager we would be no less */
        return OUTCOME_LATER;
    /* What it says of the step is a no; who it takes us for is its own affair: it may have lost its
     * ledger, and the fabric manager knows its tokens better. */
    return error->status == 403 || error->status == 422 ? OUTCOME_REFUSED : OUTCOME_ABSENT;
}

enum outcome viabroker_clean(const struct surroundings *s, bool below, int64_t limit_ms,
                             int64_t wait_ms, struct error *err)
{
    struct mcast *handle = NULL;
    struct mcast_error error = {0};
    const unsigned limit = limit_ms > 0 ? (unsigned)limit_ms : 1;
    const unsigned wait = (unsigned)(wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS);
    int rc = mcast_open(&handle, s->broker_url, &error);
    if (rc == 0)
        rc = mcast_set_timeout(handle, limit, &error);
    if (rc == 0)
        rc = mcast_set_token(handle, secret_expose(s->broker_token), &error);
    if (rc == 0)
        rc = mcast_cleanup(handle, s->step, below ? MCAST_BELOW : 0, wait, NULL, &error);
    mcast_close(handle);
    if (rc == 0)
        return OUTCOME_DONE;
    (void)error_set(err, rc == MCAST_REFUSED ? ERROR_REFUSED : ERROR_IO, "the broker: %.280s",
                    error.text);
    return judge(&error);
}
