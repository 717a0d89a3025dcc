/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/node/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void scene_write_keys(struct scene *scene, const struct launch_keys *keys, bool for_nodes)
{
    char text[LAUNCH_KEYS_TEXT_SIZE];
    launch_keys_format(keys, for_nodes, text);
    assert_int_equal(
        folder_write(scene->folder, for_nodes ? "node-launch.key" : "launch.keys", 0600, text), 0);
}

static void configure_munge(struct scene *scene, const char *more)
{
    scene->munged = testmunged_start(scene->folder, "munged", 'a');
    snprintf(scene->lines, sizeof scene->lines, "munge_socket = %s\n%s",
             testmunged_socket(scene->munged), more);
    snprintf(scene->config, sizeof scene->config, "launch_user = %u\nmunge_socket = %s\n",
             (unsigned)geteuid(), testmunged_socket(scene->munged));
}

static void configure_keys(struct scene *scene, const char *more)
{
    struct error err;
    scene->keys.count = 1;
    assert_int_equal(launch_key_create(&scene->keys.at[0], &err), 0);
    scene_write_keys(scene, &scene->keys, false);
    scene_write_keys(scene, &scene->keys, true);
    snprintf(scene->lines, sizeof scene->lines, "launch_key_file = %s/launch.keys\n%s",
             scene->folder, more);
    snprintf(scene->config, sizeof scene->config, "launch_key = %s/node-launch.key\n",
             scene->folder);
}

int scene_open(void **state, bool sealed, struct testbed_options options)
{
    struct scene *scene = calloc(1, sizeof *scene);
    void *fixture = NULL;
    assert_non_null(scene);
    scene->sealed = sealed;
    assert_int_equal(fixture_create(&fixture), 0);
    scene->fixture = fixture;
    assert_int_equal(folder_create(scene->folder), 0);
    assert_int_equal(chmod(scene->folder, 0711), 0);
    (sealed ? configure_keys : configure_munge)(scene, options.broker ? options.broker : "");
    fixture_set_config(scene->fixture, scene->config);
    snprintf(scene->file, sizeof scene->file, "%s/launch.token", scene->folder);
    options.broker = scene->lines;
    scene->testbed = realbroker_start(&options);
    *state = scene;
    return 0;
}

int scene_close(void **state)
{
    struct scene *scene = *state;
    void *fixture = scene->fixture;
    testbed_destroy(scene->testbed);
    testmunged_stop(scene->munged); /* if there is one */
    folder_destroy(scene->folder);
    free(scene);
    return fixture_destroy(&fixture);
}

void scene_needs_root(const struct scene *scene)
{
    if (geteuid() != 0 && !scene->sealed)
        skip();
}

void scene_write_file(struct scene *scene, const char *before, const char *document)
{
    FILE *file = fopen(scene->file, "we");
    assert_non_null(file);
    fprintf(file, "%s%s\n", before, document);
    assert_int_equal(fclose(file), 0);
}

json_t *scene_ask(struct scene *scene, const char *method, const char *path, const char *body,
                  int status)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(scene->testbed), method, path, body, &reply),
                     status);
    json_t *json = json_incref(reply.json);
    plainhttp_reply_release(&reply);
    return json;
}

void scene_call(struct scene *scene, const char *method, const char *path, const char *body,
                int status)
{
    json_decref(scene_ask(scene, method, path, body, status));
}

void scene_hide_broker(void)
{
    setenv("MCAST_URL", "unix:/nonexistent/mcastd.sock", 1);
}
