/* SPDX-License-Identifier: Apache-2.0 */
/* A counter of a NIC, as its driver shows it (node/services/counters.h): the whole input. Read by
 * hand it is the same. And what a note keeps of a job's traffic. */

#include "node/record/traffic.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_counter(const char *text)
{
    uint64_t value = 77, by_hand = 0;
    const char *at = text;
    bool good = *at >= '0' && *at <= '9';
    for (; *at >= '0' && *at <= '9' && good; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        good = by_hand <= ((uint64_t)INT64_MAX - digit) / 10 && at - text < 23;
        by_hand = by_hand * 10 + digit;
    }
    good = good && (*at == '\0' || *at == '@');
    FUZZ_CHECK(counter_parse(text, &value) == good);
    FUZZ_CHECK(value == (good ? by_hand : 77));
}

static void check_traffic(const json_t *json)
{
    struct traffic traffic, again;
    traffic_parse(&traffic, json);
    if (!traffic.begun)
        return;
    FUZZ_CHECK(traffic.count <= NIC_MAX && traffic.unclear <= NIC_MAX);
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        FUZZ_CHECK(traffic.sum.of[kind] <= INT64_MAX);
    json_t *written = traffic_format(&traffic);
    FUZZ_CHECK(written || traffic.ended);
    if (!written) /* a device's name is no UTF-8: not as jansson reads it */
        return;
    traffic_parse(&again, written);
    FUZZ_CHECK(again.ended == traffic.ended && again.shared == traffic.shared);
    FUZZ_CHECK(again.sum.known == traffic.sum.known &&
               memcmp(again.sum.of, traffic.sum.of, sizeof again.sum.of) == 0);
    FUZZ_CHECK(again.count == traffic.count);
    json_decref(written);
}

void fuzz_one(struct fuzz_input *in)
{
    char *text = fuzz_rest(in);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    check_counter(text);
    check_traffic(json);
    json_decref(json);
    free(text);
}
