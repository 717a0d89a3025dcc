/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/testbed.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FM_PASSWORD "stage-password"

enum { FM_ARGS_MAX = 32, PATH_SIZE = 128, CONFIG_SIZE = 4096 };

struct testbed {
    struct testbed_options options;
    char folder[FOLDER_PATH_SIZE];
    char socket[PATH_SIZE], config[PATH_SIZE], fm_url[PATH_SIZE];
    int fm_port; /* 0: never started */
    struct process *broker, *fm;
    struct plainhttp *http, *fm_http;
};

struct testbed *testbed_create(const struct testbed_options *options)
{
    struct testbed *testbed = calloc(1, sizeof *testbed);

    if (!testbed)
        return NULL;
    testbed->options = *options;
    if (folder_create(testbed->folder) < 0) {
        free(testbed);
        return NULL;
    }
    folder_path(testbed->socket, sizeof testbed->socket, testbed->folder, "mcastd.sock");
    folder_path(testbed->config, sizeof testbed->config, testbed->folder, "mcastd.conf");
    if (folder_write(testbed->folder, "passwd", 0600, FM_PASSWORD "\n") < 0 ||
        folder_write(testbed->folder, "client-id", 0600, "mcastd\n") < 0 ||
        folder_write(testbed->folder, "client-secret", 0600, FM_PASSWORD "\n") < 0 ||
        !(testbed->http = plainhttp_create("http://mcastd", testbed->socket))) {
        testbed_destroy(testbed);
        return NULL;
    }
    return testbed;
}

void testbed_destroy(struct testbed *testbed)
{
    if (!testbed)
        return;
    process_kill(testbed->broker);
    process_kill(testbed->fm);
    plainhttp_destroy(testbed->http);
    plainhttp_destroy(testbed->fm_http);
    folder_destroy(testbed->folder);
    free(testbed);
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

static const char *fm_address(const struct testbed *testbed)
{
    const struct testbed_options *options = &testbed->options;

    return options->network ? network_address(options->network, options->fm_host) : "127.0.0.1";
}

static bool fm_serves(void *arg)
{
    struct testbed *testbed = arg;
    char path[PATH_SIZE];

    if (!process_alive(testbed->fm))
        return true; /* seen by the caller */
    if (!testbed->fm_http) {
        testbed->fm_port = read_port(folder_path(path, sizeof path, testbed->folder, "port"));
        if (testbed->fm_port == 0)
            return false;
        snprintf(testbed->fm_url, sizeof testbed->fm_url, "%s://%s:%d",
                 testbed->options.fm_cert ? "https" : "http", fm_address(testbed),
                 testbed->fm_port);
        testbed->fm_http = plainhttp_create(testbed->fm_url, NULL);
        plainhttp_trust_anyone(testbed->fm_http);
        plainhttp_use_basic(testbed->fm_http, "cxi:" FM_PASSWORD);
    }
    return plainhttp_probe(testbed->fm_http, "/mock/state") == 200;
}

int testbed_start_fm(struct testbed *testbed)
{
    char listen[32], state[PATH_SIZE], port[PATH_SIZE], log[PATH_SIZE];
    const char *argv[FM_ARGS_MAX] = {testbed->options.mock_fm,
                                     "--listen",
                                     listen,
                                     "--port-file",
                                     folder_path(port, sizeof port, testbed->folder, "port"),
                                     "--auth",
                                     testbed->options.oauth ? "oauth" : "basic",
                                     "--authdir",
                                     testbed->folder,
                                     "--state",
                                     folder_path(state, sizeof state, testbed->folder, "fm.state")};
    size_t argc = 0;

    while (argv[argc])
        argc++;
    if (testbed->options.fm_cert) {
        argv[argc++] = "--tls-cert";
        argv[argc++] = testbed->options.fm_cert;
        argv[argc++] = "--tls-key";
        argv[argc++] = testbed->options.fm_key;
    }
    for (const char *const *extra = testbed->options.mock_args; extra && *extra; extra++)
        if (argc < FM_ARGS_MAX - 1)
            argv[argc++] = *extra;
    snprintf(listen, sizeof listen, "%s:%d", fm_address(testbed), testbed->fm_port);
    folder_path(log, sizeof log, testbed->folder, "mock-fm.log");
    network_enter(testbed->options.network, (int)testbed->options.fm_host);
    testbed->fm = process_start(argv, log);
    network_enter(testbed->options.network, -1);
    if (!testbed->fm)
        return -1;
    if (await(fm_serves, testbed, AWAIT_DEADLINE_MS) && process_alive(testbed->fm))
        return 0;
    fprintf(stderr, "mock-fm does not serve\n");
    process_print_log(testbed->fm);
    testbed_kill_fm(testbed);
    return -1;
}

int testbed_stop_fm(struct testbed *testbed)
{
    struct process *fm = testbed->fm;

    testbed->fm = NULL;
    return stopped("mock-fm", fm);
}

void testbed_kill_fm(struct testbed *testbed)
{
    process_kill(testbed->fm);
    testbed->fm = NULL;
}

/* ---- the broker ---- */

static int write_endpoint(const struct testbed *testbed)
{
    char text[PATH_SIZE + 16];

    snprintf(text, sizeof text, "%s/oauth/token\n", testbed->fm_url);
    return folder_write(testbed->folder, "endpoint", 0600, text);
}

static int write_config(const struct testbed *testbed)
{
    const struct testbed_options *o = &testbed->options;
    char text[CONFIG_SIZE], fm[CONFIG_SIZE / 4] = "";

    if (o->mock_fm)
        snprintf(fm, sizeof fm, "[fm]\nurl = %s\nauth = %s\nauthdir = %s\n%s%s\n%s\n",
                 testbed->fm_url, o->oauth ? "oauth" : "basic", testbed->folder,
                 o->fm_cert ? "ca = " : "", o->fm_cert ? o->fm_cert : "", o->fm ? o->fm : "");
    snprintf(text, sizeof text,
             "[broker]\nsocket = %s\n%s\n"
             "[state]\npath = %s/state.db\nkey_file = %s/state.key\n%s\n"
             "%s[inventory]\n%s\n[hwcoll]\n%s\n[vni]\n%s\n[cluster \"elcap\"]\nusers = %s\n%s",
             testbed->socket, o->broker ? o->broker : "", testbed->folder, testbed->folder,
             o->state ? o->state : "", fm, o->inventory ? o->inventory : "source = off",
             o->hwcoll ? o->hwcoll : "", o->vni ? o->vni : "", o->users ? o->users : "root",
             o->clusters ? o->clusters : "");
    return folder_write(testbed->folder, "mcastd.conf", 0600, text);
}

static bool broker_serves(void *arg)
{
    struct testbed *testbed = arg;

    return !process_alive(testbed->broker) || plainhttp_probe(testbed->http, "/readyz") == 200;
}

int testbed_launch_broker(struct testbed *testbed)
{
    const char *argv[] = {testbed->options.mcastd, "--config", testbed->config, NULL};
    char log[PATH_SIZE];

    folder_path(log, sizeof log, testbed->folder, "mcastd.log");
    if (write_config(testbed) < 0 || (testbed->options.oauth && write_endpoint(testbed) < 0) ||
        !(testbed->broker = process_start(argv, log)))
        return -1;
    return 0;
}

int testbed_await_broker(struct testbed *testbed)
{
    if (await(broker_serves, testbed, AWAIT_DEADLINE_MS) && process_alive(testbed->broker))
        return 0;
    fprintf(stderr, "mcastd does not serve\n");
    process_print_log(testbed->broker);
    testbed_kill_broker(testbed);
    return -1;
}

int testbed_start_broker(struct testbed *testbed)
{
    return testbed_launch_broker(testbed) == 0 ? testbed_await_broker(testbed) : -1;
}

int testbed_stop_broker(struct testbed *testbed)
{
    struct process *broker = testbed->broker;

    testbed->broker = NULL;
    return stopped("mcastd", broker);
}

void testbed_kill_broker(struct testbed *testbed)
{
    process_kill(testbed->broker);
    testbed->broker = NULL;
}

static bool link_is_up(void *arg)
{
    const struct testbed *testbed = arg;
    struct plainhttp_reply reply;
    const char *word = NULL;

    if (plainhttp_call(testbed->http, "GET", "/v1/status", NULL, &reply) == 200)
        word = json_string_value(
            json_object_get(json_object_get(reply.json, "fabric_manager"), "link"));
    const bool up = word && strcmp(word, "up") == 0;
    plainhttp_reply_release(&reply);
    return up;
}

int testbed_await_link(struct testbed *testbed)
{
    if (await(link_is_up, testbed, AWAIT_DEADLINE_MS))
        return 0;
    fprintf(stderr, "the link to the fabric manager did not come up\n");
    process_print_log(testbed->broker);
    return -1;
}

/* ---- looking ---- */

/* The last line of the log that has this text, cut to fit. */
static bool find_logged(const struct testbed *testbed, const char *text, char *out, size_t size)
{
    char path[PATH_SIZE], line[8192];
    bool found = false;
    FILE *file = fopen(folder_path(path, sizeof path, testbed->folder, "mcastd.log"), "re");

    while (file && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, text);
        if (at)
            snprintf(out, size, "%s", at);
        found |= at != NULL;
    }
    if (file)
        fclose(file);
    return found;
}

bool testbed_broker_logged(const struct testbed *testbed, const char *text)
{
    return find_logged(testbed, text, NULL, 0);
}

int testbed_port(const struct testbed *testbed, const char *text)
{
    char line[256];
    return find_logged(testbed, text, line, sizeof line) ? atoi(line + strlen(text)) : 0;
}

const char *testbed_folder(const struct testbed *testbed)
{
    return testbed->folder;
}

const char *testbed_socket(const struct testbed *testbed)
{
    return testbed->socket;
}

struct process *testbed_broker(const struct testbed *testbed)
{
    return testbed->broker;
}

int testbed_fm_pid(const struct testbed *testbed)
{
    return (int)process_pid(testbed->fm);
}

bool testbed_fm_runs(const struct testbed *testbed)
{
    return testbed->fm;
}

struct plainhttp *testbed_http(const struct testbed *testbed)
{
    return testbed->http;
}

const char *testbed_fm_url(const struct testbed *testbed)
{
    return testbed->fm_url;
}

struct plainhttp *testbed_fm_http(const struct testbed *testbed)
{
    return testbed->fm_http;
}
