/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/silence.h"

#include "tests/system/soak/weather.h"

#include <stdio.h>
#include <string.h>

enum { ENOUGH = 2, WITH_ADDRESSES = 8, PATH_SIZE = 64 };

struct silence {
    struct scene *scene;
    long long before, since; /* the double's last request before it was silent, and after that */
    unsigned answered;       /* releases, by the broker */
};

/* The double's log behind a request; to be released. NULL, with a fault: it has none. */
static json_t *read_log(struct scene *scene, long long since)
{
    struct plainhttp_reply reply;
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/mock/log?since=%lld", since);
    const int status = plainhttp_call(testbed_fm_http(scene->testbed), "GET", path, NULL, &reply);
    json_t *log = status == 200 ? json_incref(reply.json) : NULL;
    plainhttp_reply_release(&reply);
    if (!log)
        verdict_fault(&scene->verdict, "the fabric manager's double shows no log: %d", status);
    return log;
}

static bool hold_releases(struct scene *scene)
{
    static const char rule[] = "{\"method\":\"DELETE\",\"delay_ms\":600000}";
    struct plainhttp_reply reply;
    const int status =
        plainhttp_call(testbed_fm_http(scene->testbed), "POST", "/mock/faults", rule, &reply);
    plainhttp_reply_release(&reply);
    if (status / 100 != 2)
        verdict_fault(&scene->verdict, "the fabric manager's double takes no fault: %d", status);
    return status / 100 == 2;
}

/* Releases that the fabric manager was asked for, and has not answered. Those that it has answered
 * since it is silent: *answered. */
static unsigned count_pending(const struct silence *silence, const json_t *entries,
                              unsigned *answered)
{
    const json_t *entry;
    unsigned pending = 0;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        const char *method = json_string_value(json_object_get(entry, "method"));
        const char *outcome = json_string_value(json_object_get(entry, "outcome"));

        if (!method || strcmp(method, "DELETE") != 0)
            continue;
        pending += outcome && strcmp(outcome, "pending") == 0;
        *answered += json_object_get(entry, "status") &&
                     json_integer_value(json_object_get(entry, "number")) > silence->since;
    }
    return pending;
}

/* Jobs were told that they are released, and only then one looks what the fabric manager said. */
static bool enough_are_answered(void *arg)
{
    struct silence *silence = arg;
    struct scene *scene = silence->scene;
    unsigned answered = 0;

    while (crowd_released(scene->crowd, silence->answered))
        silence->answered++;
    if (silence->answered < ENOUGH)
        return false;
    json_t *log = read_log(scene, silence->before);
    const unsigned pending = count_pending(silence, json_object_get(log, "entries"), &answered);
    json_decref(log);
    if (answered > 0)
        verdict_fault(&scene->verdict, "the fabric manager's double answered what it was to hold");
    return pending > 0 || scene->verdict.faults > 0;
}

static bool many_have_addresses(void *arg)
{
    struct scene *scene = arg;
    size_t count = 0;

    for (size_t i = 0; i < CROWD_JOBS; i++)
        count += crowd_job(scene->crowd, i)->life == JOB_LIVE &&
                 job_token(crowd_job(scene->crowd, i)->told);
    return count >= WITH_ADDRESSES;
}

static bool all_are_answered(void *arg)
{
    return !crowd_awaits_release(((struct scene *)arg)->crowd);
}

static long long last_request(struct scene *scene)
{
    json_t *log = read_log(scene, 0);
    const long long last = json_integer_value(json_object_get(log, "requests"));

    json_decref(log);
    return last;
}

void silence(struct scene *scene, unsigned *answered)
{
    struct silence silence = {.scene = scene};

    (void)weather_clear(scene->testbed);
    if (!scene_await(scene, many_have_addresses, scene))
        verdict_fault(&scene->verdict, "nobody gets addresses from a healthy fabric manager");
    silence.before = last_request(scene);
    if (!hold_releases(scene))
        return;
    silence.since = last_request(scene);
    crowd_watch(scene->crowd, true);
    if (!scene_await(scene, enough_are_answered, &silence))
        verdict_fault(&scene->verdict,
                      "I5: the fabric manager answers no release, and of those asked of us %u are "
                      "answered, %d expected",
                      silence.answered, ENOUGH);
    /* No new ones: all that were sent while it was silent. */
    crowd_calm(scene->crowd, true);
    if (!scene_await(scene, all_are_answered, scene))
        verdict_fault(&scene->verdict, "I5: the fabric manager is silent, and a release waits");
    crowd_calm(scene->crowd, false);
    crowd_watch(scene->crowd, false);
    *answered += silence.answered;
}
