#include "tests/system/kills/silence.h"

#include "tests/system/soak/weather.h"

#include <stdio.h>
#include <string.h>

enum { ENOUGH = 4, PATH_SIZE = 64 };

struct silence {
    struct scene *scene;
    long long since; /* the double's last request before */
    unsigned unanswered;
};

/* The double's log behind a request; to be released. NULL, with a fault: it has none. */
static json_t *read_log(struct scene *scene, long long since)
{
    struct plainhttp_reply reply;
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/mock/log?since=%lld", since);
    const int status = plainhttp_call(stage_fm_http(scene->stage), "GET", path, NULL, &reply);
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

    (void)weather_clear(scene->stage);
    const int status =
        plainhttp_call(stage_fm_http(scene->stage), "POST", "/mock/faults", rule, &reply);
    plainhttp_reply_release(&reply);
    if (status / 100 != 2)
        verdict_fault(&scene->verdict, "the fabric manager's double takes no fault: %d", status);
    return status / 100 == 2;
}

/* Whether the fabric manager was asked to release this one, and has not answered. */
static bool is_pending(const json_t *entries, const char *name)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        const char *method = json_string_value(json_object_get(entry, "method"));
        const char *path = json_string_value(json_object_get(entry, "path"));
        const char *outcome = json_string_value(json_object_get(entry, "outcome"));
        const char *last = path ? strrchr(path, '/') : NULL;

        if (method && last && outcome && strcmp(method, "DELETE") == 0 &&
            strcmp(last + 1, name) == 0 && strcmp(outcome, "pending") == 0)
            return true;
    }
    return false;
}

static bool has_answered(const json_t *entries)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        const char *method = json_string_value(json_object_get(entry, "method"));

        if (method && strcmp(method, "DELETE") == 0 && json_object_get(entry, "status"))
            return true;
    }
    return false;
}

/* Jobs were told that they are released, and only then one looks what the fabric manager said. */
static bool enough_are_unanswered(void *arg)
{
    struct silence *silence = arg;
    const struct crowd *crowd = silence->scene->crowd;

    if (!crowd_released(crowd, ENOUGH - 1))
        return false;
    json_t *log = read_log(silence->scene, silence->since);
    const json_t *entries = json_object_get(log, "entries");
    silence->unanswered = 0;
    for (size_t i = 0; crowd_released(crowd, i); i++)
        silence->unanswered += is_pending(entries, crowd_released(crowd, i));
    if (has_answered(entries))
        verdict_fault(&silence->scene->verdict,
                      "the fabric manager's double answered a release that it was to hold");
    json_decref(log);
    return silence->unanswered >= ENOUGH || silence->scene->verdict.faults > 0;
}

static bool all_are_answered(void *arg)
{
    return !crowd_awaits_release(((struct scene *)arg)->crowd);
}

void silence(struct scene *scene, unsigned *answered)
{
    struct silence silence = {.scene = scene};

    if (!hold_releases(scene))
        return;
    json_t *log = read_log(scene, 0);
    silence.since = json_integer_value(json_object_get(log, "requests"));
    json_decref(log);
    crowd_watch(scene->crowd, true);
    if (!scene_await(scene, enough_are_unanswered, &silence))
        verdict_fault(&scene->verdict,
                      "I5: the fabric manager answers no release, and of those asked of us %u are "
                      "answered, %d expected",
                      silence.unanswered, ENOUGH);
    /* No new ones: all that were sent while it was silent. */
    crowd_calm(scene->crowd, true);
    if (!scene_await(scene, all_are_answered, scene))
        verdict_fault(&scene->verdict, "I5: the fabric manager is silent, and a release waits");
    crowd_calm(scene->crowd, false);
    crowd_watch(scene->crowd, false);
    *answered += silence.unanswered;
}
