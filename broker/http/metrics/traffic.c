/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/traffic.h"

#include <assert.h>

const char *listener_word(int listener)
{
    return listener == LISTENER_UNIX ? "unix" : "tcp";
}

const char *traffic_refusal_word(enum traffic_refusal refusal)
{
    static const char *const words[TRAFFIC_REFUSALS] = {[REFUSED_LIMIT] = "limit",
                                                        [REFUSED_SHARE] = "share",
                                                        [REFUSED_DISPLACED] = "displaced",
                                                        [REFUSED_SLOW] = "slow"};
    return words[refusal];
}

void traffic_answered(struct traffic *traffic, const struct route *route, int status,
                      int64_t took_us)
{
    size_t row = route ? (size_t)(route - routes) : ROUTES;
    assert(row <= ROUTES && status >= STATUS_FIRST && status < STATUS_END);
    traffic->answered[row][status - STATUS_FIRST]++;
    if (took_us >= 0)
        histogram_add(&traffic->times[row], took_us);
}
