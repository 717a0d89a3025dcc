/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/stage.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FM_PASSWORD "stage-password"

enum { FM_ARGS_MAX = 32, PATH_SIZE = 128, CONFIG_SIZE = 4096 };

struct stage {
    struct stage_options options;
    char folder[FOLDER_PATH_SIZE];
    char socket[PATH_SIZE], config[PATH_SIZE], fm_url[PATH_SIZE];
    int fm_port; /* 0: never started */
    struct process *broker, *fm;
    struct plainhttp *http, *fm_http;
};

struct stage *stage_create(const struct stage_options *options)
{
    struct stage *stage = calloc(1, sizeof *stage);

    if (!stage)
        return NULL;
    stage->options = *options;
    if (folder_create(stage->folder) < 0) {
        free(stage);
        return NULL;
    }
    folder_path(stage->socket, sizeof stage->socket, stage->folder, "mcastd.sock");
    folder_path(stage->config, sizeof stage->config, stage->folder, "mcastd.conf");
    if (folder_write(stage->folder, "passwd", 0600, FM_PASSWORD "\n") < 0 ||
        folder_write(stage->folder, "client-id", 0600, "mcastd\n") < 0 ||
        folder_write(stage->folder, "client-secret", 0600, FM_PASSWORD "\n") < 0 ||
        !(stage->http = plainhttp_create("http://mcastd", stage->socket))) {
        stage_destroy(stage);
        return NULL;
    }
    return stage;
}

void stage_destroy(struct stage *stage)
{
    if (!stage)
        return;
    process_kill(stage->broker);
    process_kill(stage->fm);
    plainhttp_destroy(stage->http);
    plainhttp_destroy(stage->fm_http);
    folder_destroy(stage->folder);
    free(stage);
}

static int stopped(const char *name, struct process *process)
{
    const int status = process_stop(process);

    if (status > 0)
        fprintf(stderr, "%s ended with exit status %d\n", name, status);
    return status == 0 ? 0 : -1;
}

/* ---- the fabric manager ---- */

static int read_port(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[16] = "";
    int port = 0;

    if (!file)
        return 0;
    /* Without the newline it may be half of a number. */
    if (fgets(line, sizeof line, file) && strchr(line, '\n'))
        port = (int)strtol(line, NULL, 10);
    fclose(file);
    return port;
}

static bool fm_serves(void *arg)
{
    struct stage *stage = arg;
    char path[PATH_SIZE];

    if (!process_alive(stage->fm))
        return true; /* seen by the caller */
    if (!stage->fm_http) {
        stage->fm_port = read_port(folder_path(path, sizeof path, stage->folder, "port"));
        if (stage->fm_port == 0)
            return false;
        snprintf(stage->fm_url, sizeof stage->fm_url, "%s://127.0.0.1:%d",
                 stage->options.fm_cert ? "https" : "http", stage->fm_port);
        stage->fm_http = plainhttp_create(stage->fm_url, NULL);
        plainhttp_trust_anyone(stage->fm_http);
        plainhttp_use_basic(stage->fm_http, "cxi:" FM_PASSWORD);
    }
    return plainhttp_probe(stage->fm_http, "/mock/state") == 200;
}

int stage_start_fm(struct stage *stage)
{
    char listen[32], state[PATH_SIZE], port[PATH_SIZE], log[PATH_SIZE];
    const char *argv[FM_ARGS_MAX] = {stage->options.mock_fm,
                                     "--listen",
                                     listen,
                                     "--port-file",
                                     folder_path(port, sizeof port, stage->folder, "port"),
                                     "--auth",
                                     stage->options.oauth ? "oauth" : "basic",
                                     "--authdir",
                                     stage->folder,
                                     "--state",
                                     folder_path(state, sizeof state, stage->folder, "fm.state")};
    size_t argc = 0;

    while (argv[argc])
        argc++;
    if (stage->options.fm_cert) {
        argv[argc++] = "--tls-cert";
        argv[argc++] = stage->options.fm_cert;
        argv[argc++] = "--tls-key";
        argv[argc++] = stage->options.fm_key;
    }
    for (const char *const *extra = stage->options.mock_args; extra && *extra; extra++)
        if (argc < FM_ARGS_MAX - 1)
            argv[argc++] = *extra;
    snprintf(listen, sizeof listen, "127.0.0.1:%d", stage->fm_port);
    folder_path(log, sizeof log, stage->folder, "mock-fm.log");
    if (!(stage->fm = process_start(argv, log)))
        return -1;
    if (await(fm_serves, stage, AWAIT_DEADLINE_MS) && process_alive(stage->fm))
        return 0;
    fprintf(stderr, "mock-fm does not serve\n");
    process_print_log(stage->fm);
    stage_kill_fm(stage);
    return -1;
}

int stage_stop_fm(struct stage *stage)
{
    struct process *fm = stage->fm;

    stage->fm = NULL;
    return stopped("mock-fm", fm);
}

void stage_kill_fm(struct stage *stage)
{
    process_kill(stage->fm);
    stage->fm = NULL;
}

/* ---- the broker ---- */

static int write_endpoint(const struct stage *stage)
{
    char text[PATH_SIZE + 16];

    snprintf(text, sizeof text, "%s/oauth/token\n", stage->fm_url);
    return folder_write(stage->folder, "endpoint", 0600, text);
}

static int write_config(const struct stage *stage)
{
    const struct stage_options *o = &stage->options;
    char text[CONFIG_SIZE], fm[CONFIG_SIZE / 4] = "";

    if (o->mock_fm)
        snprintf(fm, sizeof fm, "[fm]\nurl = %s\nauth = %s\nauthdir = %s\n%s%s\n%s\n",
                 stage->fm_url, o->oauth ? "oauth" : "basic", stage->folder,
                 o->fm_cert ? "ca = " : "", o->fm_cert ? o->fm_cert : "", o->fm ? o->fm : "");
    snprintf(text, sizeof text,
             "[broker]\nsocket = %s\n%s\n"
             "[state]\npath = %s/state.db\nkey_file = %s/state.key\n%s\n"
             "%s[hwcoll]\n%s\n[vni]\n%s\n[cluster \"elcap\"]\nusers = root\n%s",
             stage->socket, o->broker ? o->broker : "", stage->folder, stage->folder,
             o->state ? o->state : "", fm, o->hwcoll ? o->hwcoll : "", o->vni ? o->vni : "",
             o->clusters ? o->clusters : "");
    return folder_write(stage->folder, "mcastd.conf", 0600, text);
}

static bool broker_serves(void *arg)
{
    struct stage *stage = arg;

    return !process_alive(stage->broker) || plainhttp_probe(stage->http, "/readyz") == 200;
}

int stage_launch_broker(struct stage *stage)
{
    const char *argv[] = {stage->options.mcastd, "--config", stage->config, NULL};
    char log[PATH_SIZE];

    folder_path(log, sizeof log, stage->folder, "mcastd.log");
    if (write_config(stage) < 0 || (stage->options.oauth && write_endpoint(stage) < 0) ||
        !(stage->broker = process_start(argv, log)))
        return -1;
    return 0;
}

int stage_await_broker(struct stage *stage)
{
    if (await(broker_serves, stage, AWAIT_DEADLINE_MS) && process_alive(stage->broker))
        return 0;
    fprintf(stderr, "mcastd does not serve\n");
    process_print_log(stage->broker);
    stage_kill_broker(stage);
    return -1;
}

int stage_start_broker(struct stage *stage)
{
    return stage_launch_broker(stage) == 0 ? stage_await_broker(stage) : -1;
}

int stage_stop_broker(struct stage *stage)
{
    struct process *broker = stage->broker;

    stage->broker = NULL;
    return stopped("mcastd", broker);
}

void stage_kill_broker(struct stage *stage)
{
    process_kill(stage->broker);
    stage->broker = NULL;
}

static bool link_is_up(void *arg)
{
    const struct stage *stage = arg;
    struct plainhttp_reply reply;
    const char *word = NULL;

    if (plainhttp_call(stage->http, "GET", "/v1/status", NULL, &reply) == 200)
        word = json_string_value(
            json_object_get(json_object_get(reply.json, "fabric_manager"), "link"));
    const bool up = word && strcmp(word, "up") == 0;
    plainhttp_reply_release(&reply);
    return up;
}

int stage_await_link(struct stage *stage)
{
    if (await(link_is_up, stage, AWAIT_DEADLINE_MS))
        return 0;
    fprintf(stderr, "the link to the fabric manager did not come up\n");
    process_print_log(stage->broker);
    return -1;
}

/* ---- looking ---- */

bool stage_broker_logged(const struct stage *stage, const char *text)
{
    char path[PATH_SIZE], line[8192];
    bool found = false;
    FILE *file = fopen(folder_path(path, sizeof path, stage->folder, "mcastd.log"), "re");

    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, text) != NULL;
    if (file)
        fclose(file);
    return found;
}

const char *stage_folder(const struct stage *stage)
{
    return stage->folder;
}

const char *stage_socket(const struct stage *stage)
{
    return stage->socket;
}

struct process *stage_broker(const struct stage *stage)
{
    return stage->broker;
}

bool stage_fm_runs(const struct stage *stage)
{
    return stage->fm != NULL;
}

struct plainhttp *stage_http(const struct stage *stage)
{
    return stage->http;
}

struct plainhttp *stage_fm_http(const struct stage *stage)
{
    return stage->fm_http;
}
