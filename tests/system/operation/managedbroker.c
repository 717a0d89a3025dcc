/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/operation/managedbroker.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

enum { PATH_SIZE = 128, LOG_SIZE = 256 * 1024 };

struct fm {
    struct process *process;
    struct plainhttp *http;
    char url[64];
};

struct managedbroker {
    const char *mcastd, *mock_fm;
    char folder[FOLDER_PATH_SIZE];
    char path[PATH_SIZE]; /* of managedbroker_path */
    char socket[PATH_SIZE], config[PATH_SIZE], log[PATH_SIZE];
    struct fm fms[MANAGEDBROKER_FMS];
    struct process *broker;
    struct plainhttp *http;
    unsigned starts;
    long mark;
    char text[LOG_SIZE]; /* of managedbroker_log */
    const char *awaited;
};

/* ---- files ---- */

const char *managedbroker_path(struct managedbroker *managedbroker, const char *name)
{
    return folder_path(managedbroker->path, sizeof managedbroker->path, managedbroker->folder,
                       name);
}

void managedbroker_write(struct managedbroker *managedbroker, const char *name, mode_t mode,
                         const char *text)
{
    assert_int_equal(folder_write(managedbroker->folder, name, mode, text), 0);
    assert_int_equal(chmod(managedbroker_path(managedbroker, name), mode),
                     0); /* of one that was there */
}

void managedbroker_remove(struct managedbroker *managedbroker, const char *name)
{
    assert_int_equal(unlink(managedbroker_path(managedbroker, name)), 0);
}

static void make_folder(struct managedbroker *managedbroker, const char *name)
{
    assert_int_equal(mkdir(managedbroker_path(managedbroker, name), 0755), 0);
}

static void write_config(struct managedbroker *managedbroker)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "[broker]\nsocket = %s\nadmins = 1\n"
                   "[state]\npath = %s/state/state.db\nkey_file = %s/state.key\n"
                   "[fm]\nauthdir = %s/login\nlink_retry = 50ms\n"
                   "[hwcoll]\naddresses_per_job = 1\ntotal_addresses = 4000\n"
                   "[cluster \"elcap\"]\nusers = %u\n",
                   managedbroker->socket, managedbroker->folder, managedbroker->folder,
                   managedbroker->folder, (unsigned)geteuid());
    managedbroker_write(managedbroker, "mcastd.conf", 0644, text);
}

struct managedbroker *managedbroker_open(const char *mcastd, const char *mock_fm)
{
    struct managedbroker *managedbroker = calloc(1, sizeof *managedbroker);
    assert_non_null(managedbroker);
    managedbroker->mcastd = mcastd;
    managedbroker->mock_fm = mock_fm;
    assert_int_equal(folder_create(managedbroker->folder), 0);
    assert_int_equal(chmod(managedbroker->folder, 0755), 0);
    make_folder(managedbroker, "conf.d");
    make_folder(managedbroker, "login");
    make_folder(managedbroker, "state");
    folder_path(managedbroker->socket, sizeof managedbroker->socket, managedbroker->folder, "s");
    folder_path(managedbroker->config, sizeof managedbroker->config, managedbroker->folder,
                "mcastd.conf");
    managedbroker->http = plainhttp_create("http://mcastd", managedbroker->socket);
    assert_non_null(managedbroker->http);
    managedbroker_write(managedbroker, "login/passwd", 0600, "one\n");
    write_config(managedbroker);
    return managedbroker;
}

void managedbroker_close(struct managedbroker *managedbroker)
{
    if (managedbroker->broker != NULL)
        managedbroker_stop(managedbroker);
    for (int i = 0; i < MANAGEDBROKER_FMS; i++) {
        process_kill(managedbroker->fms[i].process);
        plainhttp_destroy(managedbroker->fms[i].http);
    }
    plainhttp_destroy(managedbroker->http);
    folder_destroy(managedbroker->folder);
    free(managedbroker);
}

/* ---- fabric managers ---- */

struct starting {
    struct fm *fm;
    const char *port_file;
};

static bool fm_serves(void *arg)
{
    const struct starting *starting = arg;
    struct fm *fm = starting->fm;
    char line[16] = "";
    FILE *file = fopen(starting->port_file, "re");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) == NULL || strchr(line, '\n') == NULL)
            line[0] = '\0';
        fclose(file);
    }
    if (line[0] == '\0')
        return !process_alive(fm->process);
    (void)snprintf(fm->url, sizeof fm->url, "http://127.0.0.1:%ld", strtol(line, NULL, 10));
    return true;
}

const char *managedbroker_fm(struct managedbroker *managedbroker, int which)
{
    struct fm *fm = &managedbroker->fms[which];
    char name[32], port[PATH_SIZE], log[PATH_SIZE], login[PATH_SIZE];
    (void)snprintf(name, sizeof name, "fm%d.port", which);
    folder_path(port, sizeof port, managedbroker->folder, name);
    (void)snprintf(name, sizeof name, "fm%d.log", which);
    folder_path(log, sizeof log, managedbroker->folder, name);
    folder_path(login, sizeof login, managedbroker->folder, "login");
    const char *const argv[] = {managedbroker->mock_fm,
                                "--listen",
                                "127.0.0.1:0",
                                "--port-file",
                                port,
                                "--auth",
                                "basic",
                                "--authdir",
                                login,
                                NULL};
    struct starting starting = {.fm = fm, .port_file = port};
    fm->process = process_start(argv, log);
    assert_non_null(fm->process);
    assert_true(await(fm_serves, &starting, AWAIT_DEADLINE_MS) && process_alive(fm->process));
    fm->http = plainhttp_create(fm->url, NULL);
    assert_non_null(fm->http);
    assert_int_equal(plainhttp_use_basic(fm->http, "cxi:one"), 0);
    return fm->url;
}

void managedbroker_fm_kill(struct managedbroker *managedbroker, int which)
{
    process_kill(managedbroker->fms[which].process);
    managedbroker->fms[which].process = NULL;
}

void managedbroker_fm_password(struct managedbroker *managedbroker, int which, const char *password)
{
    struct fm *fm = &managedbroker->fms[which];
    struct plainhttp_reply reply;
    char login[64];
    (void)snprintf(login, sizeof login, "%s\n", password);
    managedbroker_write(managedbroker, "login/passwd", 0600, login);
    assert_int_equal(plainhttp_call(fm->http, "POST", "/mock/reload", NULL, &reply), 200);
    plainhttp_reply_release(&reply);
    (void)snprintf(login, sizeof login, "cxi:%s", password);
    assert_int_equal(plainhttp_use_basic(fm->http, login), 0);
}

bool managedbroker_fm_holds(struct managedbroker *managedbroker, int which, const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    (void)snprintf(path, sizeof path, "/fabric/collectives/jobs/%s", job);
    int status = plainhttp_call(managedbroker->fms[which].http, "GET", path, NULL, &reply);
    plainhttp_reply_release(&reply);
    assert_true(status == 200 || status == 404);
    return status == 200;
}

/* ---- the broker ---- */

void managedbroker_configure(struct managedbroker *managedbroker, const char *text)
{
    managedbroker_write(managedbroker, "conf.d/50-test.conf", 0644, text);
}

const char *managedbroker_log(struct managedbroker *managedbroker)
{
    FILE *file = fopen(managedbroker->log, "re");
    size_t length = 0;
    if (file != NULL && fseek(file, managedbroker->mark, SEEK_SET) == 0)
        length = fread(managedbroker->text, 1, sizeof managedbroker->text - 1, file);
    if (file != NULL)
        fclose(file);
    managedbroker->text[length] = '\0';
    return managedbroker->text;
}

void managedbroker_mark(struct managedbroker *managedbroker)
{
    struct stat found;
    assert_int_equal(stat(managedbroker->log, &found), 0);
    managedbroker->mark = (long)found.st_size;
}

static bool awaited_is_there(void *arg)
{
    struct managedbroker *managedbroker = arg;
    return strstr(managedbroker_log(managedbroker), managedbroker->awaited) != NULL ||
           !process_alive(managedbroker->broker);
}

bool managedbroker_logged(struct managedbroker *managedbroker, const char *text)
{
    managedbroker->awaited = text;
    (void)await(awaited_is_there, managedbroker, AWAIT_DEADLINE_MS);
    return strstr(managedbroker_log(managedbroker), text) != NULL;
}

void managedbroker_start(struct managedbroker *managedbroker)
{
    char name[32];
    const char *const argv[] = {managedbroker->mcastd, "--config", managedbroker->config, NULL};
    (void)snprintf(name, sizeof name, "mcastd.%u.log", managedbroker->starts++);
    folder_path(managedbroker->log, sizeof managedbroker->log, managedbroker->folder, name);
    managedbroker->mark = 0;
    managedbroker->broker = process_start(argv, managedbroker->log);
    assert_non_null(managedbroker->broker);
    bool ready = managedbroker_logged(managedbroker, " READY ");
    if (!ready)
        process_print_log(managedbroker->broker);
    assert_true(ready);
}

void managedbroker_stop(struct managedbroker *managedbroker)
{
    struct process *broker = managedbroker->broker;
    managedbroker->broker = NULL;
    assert_int_equal(process_stop(broker), 0);
}

struct process *managedbroker_broker(const struct managedbroker *managedbroker)
{
    return managedbroker->broker;
}

pid_t managedbroker_pid(const struct managedbroker *managedbroker)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred who = {0};
    socklen_t length = sizeof who;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, managedbroker->socket, strlen(managedbroker->socket) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length), 0);
    close(fd);
    assert_true(who.pid > 1);
    return who.pid;
}

static bool reload_is_over(void *arg)
{
    struct managedbroker *managedbroker = arg;
    const char *log = managedbroker_log(managedbroker);
    return strstr(log, " reloaded: ") != NULL ||
           strstr(log, " reload: nothing was changed: ") != NULL ||
           !process_alive(managedbroker->broker);
}

bool managedbroker_reload(struct managedbroker *managedbroker)
{
    managedbroker_mark(managedbroker);
    assert_int_equal(kill(managedbroker_pid(managedbroker), SIGHUP), 0);
    assert_true(await(reload_is_over, managedbroker, AWAIT_DEADLINE_MS));
    assert_true(process_alive(managedbroker->broker));
    return strstr(managedbroker_log(managedbroker), " reloaded: ") != NULL;
}

/* ---- asking it ---- */

struct plainhttp *managedbroker_http(const struct managedbroker *managedbroker)
{
    return managedbroker->http;
}

int managedbroker_reserve(struct managedbroker *managedbroker, const char *job, const char *hwcoll,
                          int *vni)
{
    struct plainhttp_reply reply;
    char path[128], body[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    (void)snprintf(body, sizeof body, "{\"uid\":1000,\"nodes\":\"n[1-2]\"%s%s%s}",
                   hwcoll != NULL ? ",\"hwcoll\":\"" : "", hwcoll != NULL ? hwcoll : "",
                   hwcoll != NULL ? "\"" : "");
    int status = plainhttp_call(managedbroker->http, "PUT", path, body, &reply);
    if (vni != NULL)
        *vni = (int)json_integer_value(json_array_get(json_object_get(reply.json, "vnis"), 0));
    plainhttp_reply_release(&reply);
    return status;
}

static bool link_is_there(void *arg)
{
    struct managedbroker *managedbroker = arg;
    struct plainhttp_reply reply;
    bool there = false;
    if (plainhttp_call(managedbroker->http, "GET", "/v1/status", NULL, &reply) == 200) {
        const json_t *fm = json_object_get(reply.json, "fabric_manager");
        const char *link = json_string_value(json_object_get(fm, "link"));
        const char *url = json_string_value(json_object_get(fm, "url"));
        there = link != NULL && url != NULL && strcmp(link, "up") == 0 &&
                strcmp(url, managedbroker->awaited) == 0;
    }
    plainhttp_reply_release(&reply);
    return there;
}

bool managedbroker_await_link(struct managedbroker *managedbroker, const char *url)
{
    managedbroker->awaited = url;
    return await(link_is_there, managedbroker, AWAIT_DEADLINE_MS);
}
