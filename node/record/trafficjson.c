/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted for a job, in its note. */

#include "node/record/traffic.h"

#include <stdio.h>
#include <string.h>

static json_t *format_counters(const struct counters *counters)
{
    json_t *object = json_object();
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        if (counters->known >> kind & 1)
            json_object_set_new(object, counters_words[kind],
                                json_integer((json_int_t)counters->of[kind]));
    return object;
}

static bool parse_counters(struct counters *counters, const json_t *object)
{
    bool good = json_is_object(object);
    for (int kind = 0; kind < TRAFFIC_KINDS && good; kind++) {
        const json_t *value = json_object_get(object, counters_words[kind]);
        if (!value)
            continue;
        counters->of[kind] = (uint64_t)json_integer_value(value);
        counters->known = (uint8_t)(counters->known | 1 << kind);
        good = json_is_integer(value) && json_integer_value(value) >= 0;
    }
    return good;
}

json_t *traffic_format(const struct traffic *traffic)
{
    if (traffic->ended)
        return json_pack("{s:b,s:I,s:I,s:o,s:s,s:I,s:s,s:I}", "shared", traffic->shared, "seconds",
                         (json_int_t)traffic->seconds, "unclear", (json_int_t)traffic->unclear,
                         "sum", format_counters(&traffic->sum), "slowest", traffic->slowest,
                         "slowest_octets", (json_int_t)traffic->slowest_octets, "congested",
                         traffic->congested, "congested_paused",
                         (json_int_t)traffic->congested_paused);
    json_t *nics = json_object();
    for (unsigned int i = 0; i < traffic->count; i++)
        json_object_set_new(nics, traffic->nics[i].device, format_counters(&traffic->nics[i].at));
    return json_pack("{s:b,s:I,s:o}", "shared", traffic->shared, "begun",
                     (json_int_t)traffic->begun_ms, "nics", nics);
}

static bool parse_ended(struct traffic *traffic, json_t *json)
{
    const char *slowest, *congested;
    int shared;
    json_int_t seconds, unclear, octets, paused;
    json_t *sum;
    if (json_unpack(json, "{s:b,s:I,s:I,s:o,s:s,s:I,s:s,s:I}", "shared", &shared, "seconds",
                    &seconds, "unclear", &unclear, "sum", &sum, "slowest", &slowest,
                    "slowest_octets", &octets, "congested", &congested, "congested_paused",
                    &paused) < 0 ||
        seconds < 0 || seconds > UINT32_MAX || unclear < 0 || unclear > NIC_MAX || octets < 0 ||
        paused < 0 || strlen(slowest) >= NIC_NAME_SIZE || strlen(congested) >= NIC_NAME_SIZE)
        return false;
    traffic->begun = traffic->ended = true;
    traffic->shared = shared;
    traffic->seconds = (unsigned int)seconds;
    traffic->unclear = (unsigned int)unclear;
    traffic->slowest_octets = (uint64_t)octets;
    traffic->congested_paused = (uint64_t)paused;
    strcpy(traffic->slowest, slowest);
    strcpy(traffic->congested, congested);
    return parse_counters(&traffic->sum, sum);
}

static bool parse_begun(struct traffic *traffic, json_t *json)
{
    int shared;
    json_int_t begun_ms;
    json_t *nics, *value;
    const char *device;
    bool good = json_unpack(json, "{s:b,s:I,s:o}", "shared", &shared, "begun", &begun_ms, "nics",
                            &nics) == 0 &&
                json_object_size(nics) <= NIC_MAX;
    if (!good)
        return false;
    traffic->begun = true;
    traffic->shared = shared;
    traffic->begun_ms = begun_ms;
    json_object_foreach(nics, device, value)
    {
        good &= strlen(device) < NIC_NAME_SIZE &&
                parse_counters(&traffic->nics[traffic->count].at, value);
        snprintf(traffic->nics[traffic->count++].device, NIC_NAME_SIZE, "%.*s", NIC_NAME_SIZE - 1,
                 device);
    }
    return good;
}

void traffic_parse(struct traffic *traffic, const json_t *json)
{
    json_t *object = (json_t *)(uintptr_t)json;
    *traffic = (struct traffic){0};
    if (json && !(json_object_get(json, "sum") ? parse_ended : parse_begun)(traffic, object))
        *traffic = (struct traffic){0};
}
