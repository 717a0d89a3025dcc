/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/misbehaviour/scene.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"

#define BODY "{\"uid\":5588,\"node_count\":128}"

static struct testbed *testbed;

/* ---- asking ---- */

static int call(struct plainhttp *http, const char *method, const char *path, const char *body,
                struct plainhttp_reply *reply)
{
    const int status = plainhttp_call(http, method, path, body, reply);
    assert_int_not_equal(status, 0);
    return status;
}

void scene_tell_fm(const char *method, const char *path, const char *body)
{
    struct plainhttp_reply reply;
    const int status = call(testbed_fm_http(testbed), method, path, body, &reply);
    if (status != 200)
        fail_msg("%s %s %s: %d %s", method, path, body ? body : "", status, reply.text);
    plainhttp_reply_release(&reply);
}

/* The member of the member, as text; "" when it is not there. */
static void read_text(char out[512], const json_t *object, const char *member, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(object, member), name));
    (void)snprintf(out, 512, "%s", text ? text : "");
}

/* Reserves; "" or the hwcoll.state that the job is told, with its reason. */
void scene_reserve(const char *job, char state[512], char reason[512])
{
    char path[128];
    struct plainhttp_reply reply;
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    const int status = call(testbed_http(testbed), "PUT", path, BODY, &reply);
    if (status != 201)
        fail_msg("%s: no job fails because of the fabric manager, this one got %d: %s", job, status,
                 reply.text);
    read_text(state, reply.json, "hwcoll", "state");
    read_text(reason, reply.json, "hwcoll", "reason");
    plainhttp_reply_release(&reply);
}

void scene_job_state(const char *job, char state[512])
{
    char path[128];
    struct plainhttp_reply reply;
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    call(testbed_http(testbed), "GET", path, NULL, &reply);
    read_text(state, reply.json, "hwcoll", "state");
    plainhttp_reply_release(&reply);
}

void scene_release(const char *job)
{
    char path[128];
    struct plainhttp_reply reply;
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(call(testbed_http(testbed), "DELETE", path, NULL, &reply), 202);
    plainhttp_reply_release(&reply);
}

/* ---- waiting ---- */

static bool link_is(void *arg)
{
    char link[512];
    struct plainhttp_reply reply;
    call(testbed_http(testbed), "GET", "/v1/status", NULL, &reply);
    read_text(link, reply.json, "fabric_manager", "link");
    plainhttp_reply_release(&reply);
    return strcmp(link, arg) == 0;
}

void scene_await_link(const char *state)
{
    char wanted[16];
    (void)snprintf(wanted, sizeof wanted, "%s", state);
    if (!await(link_is, wanted, AWAIT_DEADLINE_MS))
        fail_msg("the link does not become %s", state);
}

/* What the fabric manager holds, names in its order, separated by blanks. */
static void fm_holds(char out[512])
{
    struct plainhttp_reply reply;
    size_t index, used = 0;
    json_t *job;
    out[0] = '\0';
    call(testbed_fm_http(testbed), "GET", "/mock/state", NULL, &reply);
    json_array_foreach(json_object_get(reply.json, "jobs"), index, job)
    {
        const char *name = json_string_value(json_object_get(job, "jobID"));
        used += (size_t)snprintf(out + used, 512 - used, "%s%s", index ? " " : "", name);
    }
    plainhttp_reply_release(&reply);
}

static bool holds_exactly(void *arg)
{
    char held[512];
    fm_holds(held);
    return strcmp(held, arg) == 0;
}

void scene_await_held(const char *names)
{
    char wanted[512], held[512];
    (void)snprintf(wanted, sizeof wanted, "%s", names);
    if (await(holds_exactly, wanted, AWAIT_DEADLINE_MS))
        return;
    fm_holds(held);
    fail_msg("the fabric manager should hold \"%s\", it holds \"%s\"", names, held);
}

static bool was_deleted(void *name)
{
    struct plainhttp_reply reply;
    bool deleted = false;
    size_t i;
    json_t *entry;
    call(testbed_fm_http(testbed), "GET", "/mock/log", NULL, &reply);
    json_array_foreach(json_object_get(reply.json, "entries"), i, entry)
    {
        const char *method = json_string_value(json_object_get(entry, "method"));
        const char *path = json_string_value(json_object_get(entry, "path"));
        deleted |= strcmp(method, "DELETE") == 0 && strstr(path, name) &&
                   json_integer_value(json_object_get(entry, "status")) / 100 == 2;
    }
    plainhttp_reply_release(&reply);
    return deleted;
}

void scene_await_deleted(const char *name)
{
    char wanted[SCENE_TEXT];
    (void)snprintf(wanted, sizeof wanted, "%s", name);
    if (!await(was_deleted, wanted, AWAIT_DEADLINE_MS))
        fail_msg("nothing of the name %s was deleted at the fabric manager", name);
}

static bool is_logged(void *arg)
{
    return testbed_broker_logged(testbed, arg);
}

void scene_await_logged(const char *text)
{
    char wanted[256];
    (void)snprintf(wanted, sizeof wanted, "%s", text);
    if (!await(is_logged, wanted, AWAIT_DEADLINE_MS))
        fail_msg("the log does not say \"%s\"", text);
}

bool scene_link_is(const char *state)
{
    char wanted[16];
    (void)snprintf(wanted, sizeof wanted, "%s", state);
    return link_is(wanted);
}

size_t scene_count_events(const char *kind)
{
    struct plainhttp_reply reply;
    char mark[64];
    size_t count = 0;
    call(testbed_http(testbed), "GET", "/v1/events?after=0&follow=0", NULL, &reply);
    (void)snprintf(mark, sizeof mark, "\nevent: %s\n", kind);
    for (const char *at = reply.text; (at = strstr(at, mark)); at += strlen(mark) - 1)
        count++;
    plainhttp_reply_release(&reply);
    return count;
}

/* ---- life of a test ---- */

const struct testbed_options scene_quick = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .broker = "log_level = debug",
    .fm = "timeout = 3s\nreserve_timeout = 5s\nlink_retry = 50ms\nstray_grace = 100ms",
    .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136",
};

int scene_start(const struct testbed_options *options)
{
    testbed = testbed_create(options);
    return testbed && testbed_start_fm(testbed) == 0 && testbed_start_broker(testbed) == 0 &&
                   testbed_await_link(testbed) == 0
               ? 0
               : -1;
}

int scene_start_quick(void **state)
{
    return scene_start(&scene_quick);
}

int scene_stop(void **state)
{
    testbed_destroy(testbed);
    testbed = NULL;
    return 0;
}

struct testbed *scene_stage(void)
{
    return testbed;
}
