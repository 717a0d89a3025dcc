/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/soak/weather.h"

struct kind {
    const char *words, *rules;
};

static const struct kind kinds[] = {
    {"fair", "[]"},
    {"fair", "[]"},
    {"busy", "[{\"probability\":0.1,\"status\":503},{\"probability\":0.03,\"status\":429,"
             "\"headers\":{\"Retry-After\":\"1\"}}]"},
    {"slow", "[{\"probability\":0.2,\"delay_ms\":150},{\"probability\":0.02,\"delay_ms\":1500}]"},
    {"silent", "[{\"probability\":0.06,\"status\":503,\"delay_ms\":1500}]"},
    {"answers lost", "[{\"probability\":0.03,\"drop\":\"after\"},"
                     "{\"probability\":0.03,\"drop\":\"before\"}]"},
    /* A no to a second try, when the first one, of which nothing was heard, was acted on. */
    {"lost, then full", "[{\"method\":\"POST\",\"path\":\"*/jobs\",\"probability\":0.15,"
                        "\"drop\":\"after\"},{\"method\":\"POST\",\"path\":\"*/jobs\","
                        "\"probability\":0.4,\"status\":507}]"},
    {"acts late", "[{\"method\":\"POST\",\"probability\":0.05,\"act_after_ms\":600},"
                  "{\"method\":\"DELETE\",\"probability\":0.05,\"act_after_ms\":600}]"},
    {"nonsense",
     "[{\"probability\":0.04,\"garbage\":true},{\"probability\":0.04,\"truncate\":true},"
     "{\"method\":\"POST\",\"path\":\"*/jobs\",\"probability\":0.05,"
     "\"no_session_token\":true}]"},
    {"torn lists", "[{\"path\":\"*/jobs*\",\"method\":\"GET\",\"probability\":0.5,\"page_size\":3},"
                   "{\"path\":\"*/jobs*\",\"method\":\"GET\",\"probability\":0.2,\"status\":500}]"},
};

static int steer(struct testbed *testbed, const char *method, const char *rules)
{
    struct plainhttp_reply reply;
    const int status =
        plainhttp_call(testbed_fm_http(testbed), method, "/mock/faults", rules, &reply);

    plainhttp_reply_release(&reply);
    return status >= 200 && status < 300 ? 0 : -1;
}

int weather_clear(struct testbed *testbed)
{
    return steer(testbed, "DELETE", NULL);
}

const char *weather_change(struct testbed *testbed, struct prng *prng)
{
    const struct kind *kind = &kinds[prng_below(prng, sizeof kinds / sizeof *kinds)];

    if (weather_clear(testbed) < 0 || steer(testbed, "POST", kind->rules) < 0)
        return NULL;
    return kind->words;
}
