/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/operation/house.h"

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

struct house {
    const char *mcastd, *mock_fm;
    char folder[FOLDER_PATH_SIZE];
    char path[PATH_SIZE]; /* of house_path */
    char socket[PATH_SIZE], config[PATH_SIZE], log[PATH_SIZE];
    struct fm fms[HOUSE_FMS];
    struct process *broker;
    struct plainhttp *http;
    unsigned starts;
    long mark;
    char text[LOG_SIZE]; /* of house_log */
    const char *awaited;
};

/* ---- files ---- */

const char *house_path(struct house *house, const char *name)
{
    return folder_path(house->path, sizeof house->path, house->folder, name);
}

void house_write(struct house *house, const char *name, mode_t mode, const char *text)
{
    assert_int_equal(folder_write(house->folder, name, mode, text), 0);
    assert_int_equal(chmod(house_path(house, name), mode), 0); /* of one that was there */
}

void house_remove(struct house *house, const char *name)
{
    assert_int_equal(unlink(house_path(house, name)), 0);
}

static void make_folder(struct house *house, const char *name)
{
    assert_int_equal(mkdir(house_path(house, name), 0755), 0);
}

static void write_config(struct house *house)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "[broker]\nsocket = %s\nadmins = 1\n"
                   "[state]\npath = %s/state/state.db\nkey_file = %s/state.key\n"
                   "[fm]\nauthdir = %s/login\nlink_retry = 50ms\n"
                   "[hwcoll]\naddresses_per_job = 1\ntotal_addresses = 4000\n"
                   "[cluster \"elcap\"]\nusers = %u\n",
                   house->socket, house->folder, house->folder, house->folder, (unsigned)geteuid());
    house_write(house, "mcastd.conf", 0644, text);
}

struct house *house_open(const char *mcastd, const char *mock_fm)
{
    struct house *house = calloc(1, sizeof *house);
    assert_non_null(house);
    house->mcastd = mcastd;
    house->mock_fm = mock_fm;
    assert_int_equal(folder_create(house->folder), 0);
    assert_int_equal(chmod(house->folder, 0755), 0);
    make_folder(house, "conf.d");
    make_folder(house, "login");
    make_folder(house, "state");
    folder_path(house->socket, sizeof house->socket, house->folder, "s");
    folder_path(house->config, sizeof house->config, house->folder, "mcastd.conf");
    house->http = plainhttp_create("http://mcastd", house->socket);
    assert_non_null(house->http);
    house_write(house, "login/passwd", 0600, "one\n");
    write_config(house);
    return house;
}

void house_close(struct house *house)
{
    if (house->broker != NULL)
        house_stop(house);
    for (int i = 0; i < HOUSE_FMS; i++) {
        process_kill(house->fms[i].process);
        plainhttp_destroy(house->fms[i].http);
    }
    plainhttp_destroy(house->http);
    folder_destroy(house->folder);
    free(house);
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

const char *house_fm(struct house *house, int which)
{
    struct fm *fm = &house->fms[which];
    char name[32], port[PATH_SIZE], log[PATH_SIZE], login[PATH_SIZE];
    (void)snprintf(name, sizeof name, "fm%d.port", which);
    folder_path(port, sizeof port, house->folder, name);
    (void)snprintf(name, sizeof name, "fm%d.log", which);
    folder_path(log, sizeof log, house->folder, name);
    folder_path(login, sizeof login, house->folder, "login");
    const char *const argv[] = {house->mock_fm, "--listen", "127.0.0.1:0", "--port-file", port,
                                "--auth",       "basic",    "--authdir",   login,         NULL};
    struct starting starting = {.fm = fm, .port_file = port};
    fm->process = process_start(argv, log);
    assert_non_null(fm->process);
    assert_true(await(fm_serves, &starting, AWAIT_DEADLINE_MS) && process_alive(fm->process));
    fm->http = plainhttp_create(fm->url, NULL);
    assert_non_null(fm->http);
    assert_int_equal(plainhttp_use_basic(fm->http, "cxi:one"), 0);
    return fm->url;
}

void house_fm_kill(struct house *house, int which)
{
    process_kill(house->fms[which].process);
    house->fms[which].process = NULL;
}

void house_fm_password(struct house *house, int which, const char *password)
{
    struct fm *fm = &house->fms[which];
    struct plainhttp_reply reply;
    char login[64];
    (void)snprintf(login, sizeof login, "%s\n", password);
    house_write(house, "login/passwd", 0600, login);
    assert_int_equal(plainhttp_call(fm->http, "POST", "/mock/reload", NULL, &reply), 200);
    plainhttp_reply_release(&reply);
    (void)snprintf(login, sizeof login, "cxi:%s", password);
    assert_int_equal(plainhttp_use_basic(fm->http, login), 0);
}

bool house_fm_holds(struct house *house, int which, const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    (void)snprintf(path, sizeof path, "/fabric/collectives/jobs/%s", job);
    int status = plainhttp_call(house->fms[which].http, "GET", path, NULL, &reply);
    plainhttp_reply_release(&reply);
    assert_true(status == 200 || status == 404);
    return status == 200;
}

/* ---- the broker ---- */

void house_configure(struct house *house, const char *text)
{
    house_write(house, "conf.d/50-test.conf", 0644, text);
}

const char *house_log(struct house *house)
{
    FILE *file = fopen(house->log, "re");
    size_t length = 0;
    if (file != NULL && fseek(file, house->mark, SEEK_SET) == 0)
        length = fread(house->text, 1, sizeof house->text - 1, file);
    if (file != NULL)
        fclose(file);
    house->text[length] = '\0';
    return house->text;
}

void house_mark(struct house *house)
{
    struct stat found;
    assert_int_equal(stat(house->log, &found), 0);
    house->mark = (long)found.st_size;
}

static bool awaited_is_there(void *arg)
{
    struct house *house = arg;
    return strstr(house_log(house), house->awaited) != NULL || !process_alive(house->broker);
}

bool house_logged(struct house *house, const char *text)
{
    house->awaited = text;
    (void)await(awaited_is_there, house, AWAIT_DEADLINE_MS);
    return strstr(house_log(house), text) != NULL;
}

void house_start(struct house *house)
{
    char name[32];
    const char *const argv[] = {house->mcastd, "--config", house->config, NULL};
    (void)snprintf(name, sizeof name, "mcastd.%u.log", house->starts++);
    folder_path(house->log, sizeof house->log, house->folder, name);
    house->mark = 0;
    house->broker = process_start(argv, house->log);
    assert_non_null(house->broker);
    bool ready = house_logged(house, " READY ");
    if (!ready)
        process_print_log(house->broker);
    assert_true(ready);
}

void house_stop(struct house *house)
{
    struct process *broker = house->broker;
    house->broker = NULL;
    assert_int_equal(process_stop(broker), 0);
}

struct process *house_broker(const struct house *house)
{
    return house->broker;
}

pid_t house_pid(const struct house *house)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred who = {0};
    socklen_t length = sizeof who;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, house->socket, strlen(house->socket) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length), 0);
    close(fd);
    assert_true(who.pid > 1);
    return who.pid;
}

static bool reload_is_over(void *arg)
{
    struct house *house = arg;
    const char *log = house_log(house);
    return strstr(log, " reloaded: ") != NULL ||
           strstr(log, " reload: nothing was changed: ") != NULL || !process_alive(house->broker);
}

bool house_reload(struct house *house)
{
    house_mark(house);
    assert_int_equal(kill(house_pid(house), SIGHUP), 0);
    assert_true(await(reload_is_over, house, AWAIT_DEADLINE_MS));
    assert_true(process_alive(house->broker));
    return strstr(house_log(house), " reloaded: ") != NULL;
}

/* ---- asking it ---- */

struct plainhttp *house_http(const struct house *house)
{
    return house->http;
}

int house_reserve(struct house *house, const char *job, const char *hwcoll, int *vni)
{
    struct plainhttp_reply reply;
    char path[128], body[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    (void)snprintf(body, sizeof body, "{\"uid\":1000,\"nodes\":\"n[1-2]\"%s%s%s}",
                   hwcoll != NULL ? ",\"hwcoll\":\"" : "", hwcoll != NULL ? hwcoll : "",
                   hwcoll != NULL ? "\"" : "");
    int status = plainhttp_call(house->http, "PUT", path, body, &reply);
    if (vni != NULL)
        *vni = (int)json_integer_value(json_array_get(json_object_get(reply.json, "vnis"), 0));
    plainhttp_reply_release(&reply);
    return status;
}

static bool link_is_there(void *arg)
{
    struct house *house = arg;
    struct plainhttp_reply reply;
    bool there = false;
    if (plainhttp_call(house->http, "GET", "/v1/status", NULL, &reply) == 200) {
        const json_t *fm = json_object_get(reply.json, "fabric_manager");
        const char *link = json_string_value(json_object_get(fm, "link"));
        const char *url = json_string_value(json_object_get(fm, "url"));
        there = link != NULL && url != NULL && strcmp(link, "up") == 0 &&
                strcmp(url, house->awaited) == 0;
    }
    plainhttp_reply_release(&reply);
    return there;
}

bool house_await_link(struct house *house, const char *url)
{
    house->awaited = url;
    return await(link_is_there, house, AWAIT_DEADLINE_MS);
}
