/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/inventory/scene.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

static const char genders[] = "elcap1 nic0=0x00002,nic1=0x00043\n"
                              "elcap2 nic0=0x00003\n"
                              "elcap3 nic0=0x00842\n"
                              "tuo1 nic0=0x00fff\n";

void scene_open(struct scene *scene, const char *fabric)
{
    static const char *args[] = {"--fabric", NULL, NULL};
    struct testbed_options options = {.mcastd = MCASTD,
                                      .mock_fm = MOCK_FM,
                                      .mock_args = args,
                                      .inventory = scene->inventory,
                                      .clusters = "nodes = elcap[1-4]\n",
                                      .fm = "link_retry = 50ms",
                                      .hwcoll = "min_nodes = 1\naddresses_per_job = 8"};
    char folder[FOLDER_PATH_SIZE];
    args[1] = fabric ? fabric : "3x2x6";
    assert_int_equal(folder_create(folder), 0);
    snprintf(scene->genders, sizeof scene->genders, "%s", folder);
    assert_int_equal(folder_write(folder, "genders", 0644, genders), 0);
    snprintf(scene->inventory, sizeof scene->inventory, "poll = 1s\nfile = %s/genders\n", folder);
    scene->testbed = testbed_create(&options);
    assert_non_null(scene->testbed);
    assert_int_equal(testbed_start_fm(scene->testbed), 0);
    assert_int_equal(testbed_start_broker(scene->testbed), 0);
}

void scene_close(struct scene *scene)
{
    assert_int_equal(testbed_stop_broker(scene->testbed), 0);
    testbed_destroy(scene->testbed);
    folder_destroy(scene->genders);
}

json_t *scene_get(const struct scene *scene, const char *path)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(scene->testbed), "GET", path, NULL, &reply), 200);
    json_t *document = json_incref(reply.json);
    plainhttp_reply_release(&reply);
    assert_non_null(document);
    return document;
}

json_int_t scene_number(const struct scene *scene, const char *path, const char *member)
{
    json_t *document = scene_get(scene, path);
    const json_int_t number = json_integer_value(json_object_get(document, member));
    json_decref(document);
    return number;
}

struct waiting {
    const struct scene *scene;
    const char *member, *words;
    json_int_t number;
};

static bool is_number(void *arg)
{
    const struct waiting *waiting = arg;
    return scene_number(waiting->scene, "/v1/fabric", waiting->member) == waiting->number;
}

void scene_await(const struct scene *scene, const char *member, json_int_t number)
{
    struct waiting waiting = {scene, member, NULL, number};
    if (!await(is_number, &waiting, AWAIT_DEADLINE_MS))
        fail_msg("%s is %d", member, (int)scene_number(scene, "/v1/fabric", member));
}

static bool has_error(void *arg)
{
    const struct waiting *waiting = arg;
    json_t *document = scene_get(waiting->scene, "/v1/fabric");
    const char *error = json_string_value(json_object_get(document, "error"));
    const bool has = waiting->words ? error && strstr(error, waiting->words) : !error;
    json_decref(document);
    return has;
}

void scene_await_error(const struct scene *scene, const char *words)
{
    struct waiting waiting = {scene, NULL, words, 0};
    if (await(has_error, &waiting, AWAIT_DEADLINE_MS))
        return;
    json_t *document = scene_get(scene, "/v1/fabric");
    fail_msg("the error is %s", json_string_value(json_object_get(document, "error")));
}

static bool is_checked(void *arg)
{
    const struct waiting *waiting = arg;
    json_t *document = scene_get(waiting->scene, "/v1/fabric");
    const char *checked = json_string_value(json_object_get(document, "checked"));
    const bool later = checked && strcmp(checked, waiting->words) > 0;
    json_decref(document);
    return later;
}

void scene_await_check(const struct scene *scene)
{
    json_t *before = scene_get(scene, "/v1/fabric");
    const char *checked = json_string_value(json_object_get(before, "checked"));
    /* The second from now has begun after this call. */
    for (int i = 0; i < 2; i++) {
        struct waiting waiting = {scene, NULL, checked ? checked : "", 0};
        assert_true(await(is_checked, &waiting, AWAIT_DEADLINE_MS));
        json_t *now = scene_get(scene, "/v1/fabric");
        json_decref(before);
        before = now;
        checked = json_string_value(json_object_get(before, "checked"));
    }
    json_decref(before);
}

void scene_tell_fm(const struct scene *scene, const char *method, const char *path,
                   const char *body)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_fm_http(scene->testbed), method, path, body, &reply),
                     200);
    plainhttp_reply_release(&reply);
}

void scene_set(const struct scene *scene, const char *path, const char *fm_state)
{
    char body[256];
    snprintf(body, sizeof body, "{\"set\":{\"%s\":\"%s\"}}", path, fm_state);
    scene_tell_fm(scene, "POST", "/mock/fabric", body);
}

char *scene_events(const struct scene *scene, const char *kind)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/events?follow=0&kind=%s", kind);
    assert_int_equal(plainhttp_call(testbed_http(scene->testbed), "GET", path, NULL, &reply), 200);
    char *text = strdup(reply.text);
    plainhttp_reply_release(&reply);
    return text;
}

static bool has_event(void *arg)
{
    const struct waiting *waiting = arg;
    char *text = scene_events(waiting->scene, waiting->member);
    const bool has = strstr(text, waiting->words);
    free(text);
    return has;
}

void scene_await_event(const struct scene *scene, const char *kind, const char *words)
{
    struct waiting waiting = {scene, kind, words, 0};
    if (!await(has_event, &waiting, AWAIT_DEADLINE_MS))
        fail_msg("no event %s has: %s", kind, words);
}

void scene_run_job(const struct scene *scene)
{
    static const char path[] = "/v1/clusters/elcap/jobs/f1";
    static const char body[] = "{\"uid\":1,\"nodes\":\"elcap[1-4]\"}";
    struct plainhttp *http = testbed_http(scene->testbed);
    struct plainhttp_reply reply;
    assert_in_range(plainhttp_call(http, "PUT", path, body, &reply), 200, 201);
    const json_t *hwcoll = json_object_get(reply.json, "hwcoll");
    assert_string_equal(json_string_value(json_object_get(hwcoll, "state")), "reserved");
    plainhttp_reply_release(&reply);
    assert_int_equal(plainhttp_call(http, "DELETE", path, NULL, &reply), 202);
    plainhttp_reply_release(&reply);
}
