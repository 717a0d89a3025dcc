/* SPDX-License-Identifier: Apache-2.0 */
/* Launch documents as the broker gives them out (S1); what nodes do with them:
 * tests/system/node/launch_test.c. */

#include "base/memory.h"
#include "launch/sealed.h"
#include "tests/system/http/testmunged.h"
#include "tests/system/http/site.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOB "/v1/clusters/elcap/jobs/f1"
#define LAUNCH JOB "/launch"
#define REQUEST "{\"uid\":5588,\"nodes\":\"n[1-2]\""

struct scene {
    struct site *site;
    struct testmunged *munged;
    char folder[FOLDER_PATH_SIZE], lines[256];
};

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    assert_int_equal(folder_create(scene->folder), 0);
    scene->munged = testmunged_start(scene->folder, "munged", 'a');
    snprintf(scene->lines, sizeof scene->lines, "munge_socket = %s\n",
             testmunged_socket(scene->munged));
    scene->site = site_open(&(struct site_options){.mcastd = MCASTD, .broker = scene->lines});
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    site_close(scene->site);
    testmunged_stop(scene->munged);
    folder_destroy(scene->folder);
    free(scene);
    return 0;
}

static void expect_answer(struct site *site, const char *method, const char *path, const char *body,
                          int status, bool env)
{
    struct answer answer;
    assert_int_equal(site_call(site, method, path, body, &answer), status);
    assert_non_null(json_object_get(answer.json, "launch"));
    assert_int_equal(json_is_object(json_object_get(answer.json, "env")), env);
    answer_release(&answer);
}

static void expect_launch(struct site *site, const char *method, const char *path, const char *body,
                          int status)
{
    expect_answer(site, method, path, body, status, false);
}

static void document__comes_with_a_reserve_or_later(void **state)
{
    struct site *site = ((struct scene *)*state)->site;
    expect_launch(site, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    expect_launch(site, "PUT", JOB, REQUEST ",\"launch\":{\"restart\":1}}", 200);
    expect_launch(site, "POST", LAUNCH, NULL, 200);
    expect_launch(site, "POST", LAUNCH, "{\"restart\":0,\"expires\":\"12h\"}", 200);
    assert_int_equal(site_call(site, "PUT", JOB, REQUEST "}", NULL), 200);
}

/* For a resource manager whose nodes are given the one, and its tasks the other (S5). */
static void environment__comes_with_it_if_wanted(void **state)
{
    struct site *site = ((struct scene *)*state)->site;
    expect_answer(site, "PUT", JOB, REQUEST ",\"launch\":{\"env\":true}}", 201, true);
    expect_answer(site, "PUT", JOB, REQUEST ",\"launch\":{\"env\":false}}", 200, false);
    expect_answer(site, "POST", LAUNCH, "{\"env\":true}", 200, true);
}

static void document__is_bound_to_what_is_known(void **state)
{
    struct site *site = ((struct scene *)*state)->site;
    site_refused(site, "POST", LAUNCH, NULL, 404, "not-found", NULL);
    site_refused(site, "POST", "/v1/clusters/nemo/jobs/f1/launch", NULL, 404, "no-such-cluster",
                 "cluster");
    site_refused(site, "POST", LAUNCH, "{\"uid\":1}", 422, "unknown-field", "uid");
    site_refused(site, "PUT", JOB, "{\"uid\":1,\"node_count\":1,\"launch\":{}}", 422,
                 "missing-field", "nodes");
    assert_int_equal(site_call(site, "PUT", JOB, ONE_NODE, NULL), 201);
    site_refused(site, "POST", LAUNCH, NULL, 409, "no-launch", NULL);
    assert_int_equal(site_call(site, "PUT", "/v1/clusters/elcap/jobs/f2", REQUEST "}", NULL), 201);
    assert_int_equal(site_call(site, "DELETE", "/v1/clusters/elcap/jobs/f2", NULL, NULL), 202);
    site_refused(site, "POST", "/v1/clusters/elcap/jobs/f2/launch", NULL, 409, "no-launch", NULL);
}

/* Nothing is reserved for an answer that cannot be given. */
static void broker__without_munge_makes_none(void **state)
{
    struct scene *scene = *state;
    site_restart(scene->site, &(struct site_options){.mcastd = MCASTD});
    site_refused(scene->site, "PUT", JOB, REQUEST ",\"launch\":{}}", 409, "no-envelope", NULL);
    site_refused(scene->site, "GET", JOB, NULL, 404, "not-found", NULL);
    assert_int_equal(site_call(scene->site, "PUT", JOB, REQUEST "}", NULL), 201);
    site_refused(scene->site, "POST", LAUNCH, NULL, 409, "no-envelope", NULL);
}

/* A munged that hangs delays no other client, and its caller for a short time only. The reservation
 * is there, and the same request again gets the document. */
static void munged__that_hangs_is_not_waited_for(void **state)
{
    struct scene *scene = *state;
    struct line *line = site_line(scene->site);
    testmunged_hold(scene->munged);
    line_request(line, "PUT", JOB, NULL, REQUEST ",\"launch\":{}}");
    assert_int_equal(site_call(scene->site, "GET", "/v1/status", NULL, NULL), 200);
    struct answer answer;
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 503);
    assert_string_equal(json_string_value(json_object_get(answer.json, "code")),
                        "munge-unavailable");
    answer_release(&answer);
    line_close(line);
    testmunged_go_on(scene->munged);
    expect_launch(scene->site, "PUT", JOB, REQUEST ",\"launch\":{}}", 200);
}

/* ---- without MUNGE: signed and sealed with a launch key (S5) ---- */

/* Runs mcastd as root does beside the service; its exit status, and what it says. */
static int run_mcastd(struct scene *scene, const char *option, char *said, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "%s --config %s/mcastd.conf %s 2>&1", MCASTD,
             site_folder(scene->site), option);
    FILE *pipe = popen(command, "re"); /* NOLINT(cert-env33-c): names of our own */
    assert_non_null(pipe);
    said[fread(said, 1, size - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

static void expect_mcastd(struct scene *scene, const char *option, int status, const char *words)
{
    char said[2048];
    assert_int_equal(run_mcastd(scene, option, said, sizeof said), status);
    if (!strstr(said, words))
        fail_msg("mcastd %s says: %s", option, said);
    explicit_bzero(said, sizeof said);
}

/* With --node-launch-key's keys, as on a node. */
static struct launch_keys node_keys(struct scene *scene)
{
    struct launch_keys keys;
    struct error err;
    char said[2048];
    assert_int_equal(run_mcastd(scene, "--node-launch-key", said, sizeof said), 0);
    assert_int_equal(launch_keys_parse(&keys, said, &err), 0);
    assert_false(keys.at[0].can_sign);
    return keys;
}

/* The broker's next document can be opened by these. */
static void expect_sealed_for(struct scene *scene, const struct launch_keys *keys, bool opens)
{
    struct answer answer;
    struct error err;
    assert_int_equal(site_call(scene->site, "PUT", JOB, REQUEST ",\"launch\":{}}", &answer), 200);
    const char *launch = json_string_value(json_object_get(answer.json, "launch"));
    assert_int_equal(strncmp(launch, SEALED_PREFIX, strlen(SEALED_PREFIX)), 0);
    char *document = sealed_open(keys, launch, &err);
    assert_int_equal(document != NULL, opens);
    assert_true(!document || strstr(document, "\"job\":\"f1\""));
    memory_wipe_text(document);
    answer_release(&answer);
}

static void broker__with_a_launch_key_seals(void **state)
{
    struct scene *scene = *state;
    char path[FOLDER_PATH_SIZE + 16], lines[512];
    folder_path(path, sizeof path, site_folder(scene->site), "launch.keys");
    snprintf(lines, sizeof lines, "%slaunch_key_file = %s\n", scene->lines, path);
    const struct site_options sealing = {.mcastd = MCASTD, .broker = lines};
    expect_launch(scene->site, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    expect_mcastd(scene, "--rotate-launch-key", 1, "set launch_key_file in [broker] of");
    /* A reload does not take a file that is not there. */
    assert_false(site_reload(scene->site, &sealing));
    assert_true(site_logged(scene->site, "it should hold what mcastd --rotate-launch-key makes"));
    expect_mcastd(scene, "--node-launch-key", 1, "No such file");
    expect_mcastd(scene, "--rotate-launch-key", 0, "made ");
    assert_true(site_reload(scene->site, &sealing));
    const struct launch_keys first = node_keys(scene);
    assert_int_equal(first.count, 1);
    expect_sealed_for(scene, &first, true);
    /* The next key is for nodes first. */
    expect_mcastd(scene, "--rotate-launch-key", 0, "has a next key, which is not used yet");
    expect_mcastd(scene, "--check", 0, "has a next key, which is not used yet");
    const struct launch_keys both = node_keys(scene);
    assert_int_equal(both.count, 2);
    assert_true(site_reload(scene->site, &sealing));
    assert_true(site_logged(scene->site, "reload: [broker] launch_key_file was read again"));
    expect_sealed_for(scene, &first, true);
    expect_mcastd(scene, "--rotate-launch-key", 0,
                  "the next key is in use from the next reload on");
    expect_sealed_for(scene, &first, true); /* not before */
    assert_true(site_reload(scene->site, &sealing));
    expect_sealed_for(scene, &first, false);
    expect_sealed_for(scene, &both, true);
    const struct launch_keys last = node_keys(scene);
    assert_int_equal(last.count, 1);
    expect_sealed_for(scene, &last, true);
    /* What others can read is refused, at a reload and by --check; the old keys stay in force. */
    assert_int_equal(chmod(path, 0640), 0);
    expect_mcastd(scene, "--check", 1, "[broker] launch_key_file: ");
    assert_false(site_reload(scene->site, &sealing));
    assert_true(site_logged(scene->site, "launch.keys can be read by others: chmod 0600"));
    expect_sealed_for(scene, &last, true);
    /* And a node's file is none for a broker. */
    char text[LAUNCH_KEYS_TEXT_SIZE];
    launch_keys_format(&last, true, text);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(folder_write(site_folder(scene->site), "launch.keys", 0600, text), 0);
    assert_false(site_reload(scene->site, &sealing));
    assert_true(site_logged(scene->site, "has no signing key, as a node's file"));
}

/* munged is not asked: it may hang. */
static void munged__is_not_needed_with_a_launch_key(void **state)
{
    struct scene *scene = *state;
    char lines[512];
    snprintf(lines, sizeof lines, "%slaunch_key_file = %s/launch.keys\n", scene->lines,
             site_folder(scene->site));
    const struct site_options sealing = {.mcastd = MCASTD, .broker = lines};
    assert_false(site_reload(scene->site, &sealing)); /* for the configuration */
    expect_mcastd(scene, "--rotate-launch-key", 0, "made ");
    assert_true(site_reload(scene->site, &sealing));
    testmunged_hold(scene->munged);
    expect_launch(scene->site, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    testmunged_go_on(scene->munged);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

UNIT_MAIN(TEST(document__comes_with_a_reserve_or_later), TEST(environment__comes_with_it_if_wanted),
          TEST(document__is_bound_to_what_is_known), TEST(broker__without_munge_makes_none),
          TEST(munged__that_hangs_is_not_waited_for), TEST(broker__with_a_launch_key_seals),
          TEST(munged__is_not_needed_with_a_launch_key))
