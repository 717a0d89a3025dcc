/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/brokers.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Of each of several: one that hangs is no reason to wait. */
enum { SEVERAL_ANSWER_MS = 2000 };

static const char between[] = ", \t\r\n"; /* as mcast_open has it */

static int ask(struct call *call, unsigned answer_ms, json_t **status)
{
    char *text = NULL;
    int rc = answer_ms > 0 ? mcast_set_timeout(call->handle, answer_ms, &call->error) : 0;
    if (rc == 0)
        rc = mcast_status(call->handle, &text, &call->error);
    *status = rc == 0 ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return rc;
}

/* Without "… mcastd at NAME", and without what to do. */
static char *cause_of(const char *url, const char *text)
{
    const char *name = strncmp(url, "unix:", 5) == 0 ? url + 5 : url;
    const char *named = strstr(text, name);
    if (named)
        text = named + strlen(name) + strspn(named + strlen(name), ": ");
    char *cause = memory_text(text), *rest = strstr(cause, "; ");
    if (rest)
        *rest = '\0';
    return cause;
}

static bool leads(const json_t *broker)
{
    const char *role = command_text(broker, "role");
    return role && strcmp(role, "leader") == 0;
}

/* *best: the status that is to be shown. */
static void ask_one(const struct call *call, const char *url, json_t *brokers, json_t **best)
{
    struct call one = *call;
    json_t *status = NULL, *told = json_pack("{s:s}", "url", url);
    one.url = url;
    one.retry_timeout = NULL;
    int rc = command_open(&one);
    if (rc == 0)
        rc = ask(&one, SEVERAL_ANSWER_MS, &status);
    mcast_close(one.handle);
    if (status) {
        json_object_set(told, "role", json_object_get(status, "role"));
        json_object_set(told, "version", json_object_get(status, "version"));
        json_object_set(told, "started", json_object_get(status, "started"));
        if (!*best || (leads(status) && !leads(*best))) {
            json_decref(*best);
            *best = json_incref(status);
            json_object_set_new(*best, "url", json_string(url));
        }
        json_decref(status);
    } else {
        char *cause = rc == 0 ? memory_text("no JSON") : cause_of(url, one.error.text);
        json_object_set_new(told, "error", json_string(cause));
        free(cause);
    }
    json_array_append_new(brokers, told);
}

const char *brokers_rival(const json_t *status)
{
    const json_t *broker;
    size_t i;
    json_array_foreach(json_object_get(status, "brokers"), i, broker)
    {
        /* The same broker may be listed by two addresses. */
        if (leads(status) && leads(broker) &&
            !json_equal(json_object_get(broker, "started"), json_object_get(status, "started")))
            return command_text(broker, "url");
    }
    return NULL;
}

json_t *brokers_ask(const struct call *call)
{
    const char *urls = call->url ? call->url : getenv("MCAST_URL");
    if (!urls || !urls[strspn(urls, between) + strcspn(urls + strspn(urls, between), between)])
        return NULL;
    char *copy = memory_text(urls), *rest = NULL;
    json_t *brokers = json_array(), *status = NULL;
    for (char *url = strtok_r(copy, between, &rest); url; url = strtok_r(NULL, between, &rest))
        ask_one(call, url, brokers, &status);
    free(copy);
    if (status)
        json_object_set(status, "brokers", brokers);
    json_decref(brokers);
    return status;
}

int brokers_status(struct call *call, unsigned answer_ms, json_t **status)
{
    *status = brokers_ask(call);
    return *status ? 0 : ask(call, answer_ms, status); /* in words about all of them */
}
