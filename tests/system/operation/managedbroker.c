/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/operation/managedbroker.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATH_SIZE = 128, LOG_SIZE = 256 * 1024 };

struct fm {
    struct process *process;
    struct plainhttp *http;
    char url[64];
};

static struct {
    const char *mcastd, *mock_fm;
    char folder[FOLDER_PATH_SIZE];
    char path[PATH_SIZE]; /* of managed_path */
    char socket[PATH_SIZE], config[PATH_SIZE], log[PATH_SIZE];
    struct fm fms[MANAGED_FMS];
    struct process *broker;
    struct plainhttp *http;
    unsigned starts;
    long mark;
    char text[LOG_SIZE]; /* of managed_log */
    const char *awaited;
} managed;

/* ---- files ---- */

const char *managed_path(const char *name)
{
    return folder_path(managed.path, sizeof managed.path, managed.folder, name);
}

void managed_write(const char *name, mode_t mode, const char *text)
{
    assert_int_equal(folder_write(managed.folder, name, mode, text), 0);
    assert_int_equal(chmod(managed_path(name), mode), 0); /* of one that was there */
}

void managed_remove(const char *name)
{
    assert_int_equal(unlink(managed_path(name)), 0);
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(managed_path(name), 0755), 0);
}

static void write_config(void)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "[broker]\nsocket = %s\nadmins = 1\n"
                   "[state]\npath = %s/state/state.db\nkey_file = %s/state.key\n"
                   "[fm]\nauthdir = %s/login\nlink_retry = 50ms\n[inventory]\nsource = off\n"
                   "[hwcoll]\naddresses_per_job = 1\ntotal_addresses = 4000\n"
                   "[cluster \"elcap\"]\nusers = %u\n",
                   managed.socket, managed.folder, managed.folder, managed.folder,
                   (unsigned)geteuid());
    managed_write("mcastd.conf", 0644, text);
}

void managed_open(const char *mcastd, const char *mock_fm)
{
    memset(&managed, 0, sizeof managed);
    managed.mcastd = mcastd;
    managed.mock_fm = mock_fm;
    assert_int_equal(folder_create(managed.folder), 0);
    assert_int_equal(chmod(managed.folder, 0755), 0);
    make_folder("conf.d");
    make_folder("login");
    make_folder("state");
    folder_path(managed.socket, sizeof managed.socket, managed.folder, "s");
    folder_path(managed.config, sizeof managed.config, managed.folder, "mcastd.conf");
    managed.http = plainhttp_create("http://mcastd", managed.socket);
    assert_non_null(managed.http);
    managed_write("login/passwd", 0600, "one\n");
    write_config();
}

void managed_close(void)
{
    if (managed.broker)
        managed_stop();
    for (int i = 0; i < MANAGED_FMS; i++) {
        process_kill(managed.fms[i].process);
        plainhttp_destroy(managed.fms[i].http);
    }
    plainhttp_destroy(managed.http);
    folder_destroy(managed.folder);
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
    if (file) {
        if (!fgets(line, sizeof line, file) || !strchr(line, '\n'))
            line[0] = '\0';
        fclose(file);
    }
    if (line[0] == '\0')
        return !process_alive(fm->process);
    (void)snprintf(fm->url, sizeof fm->url, "http://127.0.0.1:%ld", strtol(line, NULL, 10));
    return true;
}

const char *managed_fm(int which)
{
    struct fm *fm = &managed.fms[which];
    char name[32], port[PATH_SIZE], log[PATH_SIZE], login[PATH_SIZE];
    (void)snprintf(name, sizeof name, "fm%d.port", which);
    folder_path(port, sizeof port, managed.folder, name);
    (void)snprintf(name, sizeof name, "fm%d.log", which);
    folder_path(log, sizeof log, managed.folder, name);
    folder_path(login, sizeof login, managed.folder, "login");
    const char *const argv[] = {managed.mock_fm, "--listen", "127.0.0.1:0", "--port-file", port,
                                "--auth",        "basic",    "--authdir",   login,         NULL};
    struct starting starting = {.fm = fm, .port_file = port};
    fm->process = process_start(argv, log);
    assert_non_null(fm->process);
    assert_true(await(fm_serves, &starting, AWAIT_DEADLINE_MS) && process_alive(fm->process));
    fm->http = plainhttp_create(fm->url, NULL);
    assert_non_null(fm->http);
    assert_int_equal(plainhttp_use_basic(fm->http, "cxi:one"), 0);
    return fm->url;
}

void managed_fm_kill(int which)
{
    process_kill(managed.fms[which].process);
    managed.fms[which].process = NULL;
}

void managed_fm_password(int which, const char *password)
{
    struct fm *fm = &managed.fms[which];
    struct plainhttp_reply reply;
    char login[64];
    (void)snprintf(login, sizeof login, "%s\n", password);
    managed_write("login/passwd", 0600, login);
    assert_int_equal(plainhttp_call(fm->http, "POST", "/mock/reload", NULL, &reply), 200);
    plainhttp_reply_release(&reply);
    (void)snprintf(login, sizeof login, "cxi:%s", password);
    assert_int_equal(plainhttp_use_basic(fm->http, login), 0);
}

bool managed_fm_holds(int which, const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    (void)snprintf(path, sizeof path, "/fabric/collectives/jobs/%s", job);
    int status = plainhttp_call(managed.fms[which].http, "GET", path, NULL, &reply);
    plainhttp_reply_release(&reply);
    assert_true(status == 200 || status == 404);
    return status == 200;
}

/* ---- the broker ---- */

void managed_configure(const char *text)
{
    managed_write("conf.d/50-test.conf", 0644, text);
}

const char *managed_log(void)
{
    FILE *file = fopen(managed.log, "re");
    size_t length = 0;
    if (file && fseek(file, managed.mark, SEEK_SET) == 0)
        length = fread(managed.text, 1, sizeof managed.text - 1, file);
    if (file)
        fclose(file);
    managed.text[length] = '\0';
    return managed.text;
}

void managed_mark(void)
{
    struct stat found;
    assert_int_equal(stat(managed.log, &found), 0);
    managed.mark = (long)found.st_size;
}

static bool awaited_is_there(void *arg)
{
    return strstr(managed_log(), managed.awaited) || !process_alive(managed.broker);
}

bool managed_logged(const char *text)
{
    managed.awaited = text;
    (void)await(awaited_is_there, NULL, AWAIT_DEADLINE_MS);
    return strstr(managed_log(), text);
}

void managed_start(void)
{
    managed_start_until(" READY ");
}

void managed_start_until(const char *word)
{
    char name[32];
    const char *const argv[] = {managed.mcastd, "--config", managed.config, NULL};
    (void)snprintf(name, sizeof name, "mcastd.%u.log", managed.starts++);
    folder_path(managed.log, sizeof managed.log, managed.folder, name);
    managed.mark = 0;
    managed.broker = process_start(argv, managed.log);
    assert_non_null(managed.broker);
    bool ready = managed_logged(word);
    if (!ready)
        process_print_log(managed.broker);
    assert_true(ready);
}

void managed_stop(void)
{
    struct process *broker = managed.broker;
    managed.broker = NULL;
    assert_int_equal(process_stop(broker), 0);
}

void managed_kill(void)
{
    process_kill(managed.broker);
    managed.broker = NULL;
}

struct process *managed_broker(void)
{
    return managed.broker;
}

pid_t managed_pid(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred who = {0};
    socklen_t length = sizeof who;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, managed.socket, strlen(managed.socket) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length), 0);
    close(fd);
    assert_true(who.pid > 1);
    return who.pid;
}

static bool reload_is_over(void *arg)
{
    const char *log = managed_log();
    return strstr(log, " reloaded: ") || strstr(log, " reload: nothing was changed: ") ||
           !process_alive(managed.broker);
}

bool managed_reload(void)
{
    managed_mark();
    assert_int_equal(kill(managed_pid(), SIGHUP), 0);
    assert_true(await(reload_is_over, NULL, AWAIT_DEADLINE_MS));
    assert_true(process_alive(managed.broker));
    return strstr(managed_log(), " reloaded: ");
}

/* ---- asking it ---- */

struct plainhttp *managed_http(void)
{
    return managed.http;
}

int managed_reserve(const char *job, const char *hwcoll, int *vni)
{
    struct plainhttp_reply reply;
    char path[128], body[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    (void)snprintf(body, sizeof body, "{\"uid\":1000,\"nodes\":\"n[1-2]\"%s%s%s}",
                   hwcoll ? ",\"hwcoll\":\"" : "", hwcoll ? hwcoll : "", hwcoll ? "\"" : "");
    int status = plainhttp_call(managed.http, "PUT", path, body, &reply);
    if (vni)
        *vni = (int)json_integer_value(json_array_get(json_object_get(reply.json, "vnis"), 0));
    plainhttp_reply_release(&reply);
    return status;
}

static bool link_is_there(void *arg)
{
    struct plainhttp_reply reply;
    bool there = false;
    if (plainhttp_call(managed.http, "GET", "/v1/status", NULL, &reply) == 200) {
        const json_t *fm = json_object_get(reply.json, "fabric_manager");
        const char *link = json_string_value(json_object_get(fm, "link"));
        const char *url = json_string_value(json_object_get(fm, "url"));
        there = link && url && strcmp(link, "up") == 0 && strcmp(url, managed.awaited) == 0;
    }
    plainhttp_reply_release(&reply);
    return there;
}

bool managed_await_link(const char *url)
{
    managed.awaited = url;
    return await(link_is_there, NULL, AWAIT_DEADLINE_MS);
}
