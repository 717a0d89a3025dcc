/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/site.h"
#include "tests/unit/unit.h"

#include "tests/system/http/contract.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_SIZE = 128, TEXT_SIZE = 4096 };

static const char RELOADED[] = " reloaded: ", KEPT[] = "reload: nothing was changed";

struct site {
    char folder[FOLDER_PATH_SIZE];
    char socket[PATH_SIZE], config[PATH_SIZE], log[PATH_SIZE];
    int port;
    unsigned starts, reloads;
    struct process *broker;
    json_t *contract;
};

static void write_config(struct site *site, const struct site_options *o)
{
    char text[TEXT_SIZE], me[16], users[128] = "", users_tuo[128] = "", nodes[128] = "",
                                  inventory[PATH_SIZE] = "";
    snprintf(me, sizeof me, "%u", (unsigned)geteuid());
    if (o->users)
        snprintf(users, sizeof users, "users = %s\n", o->users);
    if (o->nodes)
        snprintf(nodes, sizeof nodes, "nodes = %s\n", o->nodes);
    if (o->genders) {
        assert_int_equal(folder_write(site->folder, "genders", 0600, o->genders), 0);
        snprintf(inventory, sizeof inventory, "[inventory]\nfile = %s/genders\n", site->folder);
    }
    if (o->users_tuo)
        snprintf(users_tuo, sizeof users_tuo, "users = %s\n", o->users_tuo);
    snprintf(text, sizeof text,
             "[broker]\nsocket = %s\nlisten = 127.0.0.1:0\nadmins = %s\n%s\n"
             "[state]\nstore = %s\npath = %s/state.db\nkey_file = %s/state.key\n%s\n[vni]\n%s\n%s"
             "[cluster \"elcap\"]\n%s%s[cluster \"tuo\"]\n%s",
             site->socket, o->admins ? o->admins : me, o->broker ? o->broker : "",
             o->keep ? "sqlite" : "memory", site->folder, site->folder, o->state ? o->state : "",
             o->vni ? o->vni : "", inventory, users, nodes, users_tuo);
    assert_int_equal(folder_write(site->folder, "mcastd.conf", 0600, text), 0);
}

/* READY is the first line of a log. */
static bool is_ready(void *arg)
{
    struct site *site = arg;
    char line[1024];
    bool ready = false;
    FILE *file = fopen(site->log, "re");
    while (file && !ready && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, " READY "), *port = at ? strstr(at, "127.0.0.1:") : NULL;
        if (port && strchr(port, '\n')) {
            site->port = (int)strtol(port + strlen("127.0.0.1:"), NULL, 10);
            ready = true;
        }
    }
    if (file)
        fclose(file);
    return ready || !process_alive(site->broker);
}

static void start(struct site *site, const struct site_options *options)
{
    char name[32];
    const char *const argv[] = {options->mcastd, "--config", site->config, NULL};
    write_config(site, options);
    snprintf(name, sizeof name, "mcastd.%u.log", site->starts++);
    folder_path(site->log, sizeof site->log, site->folder, name);
    site->broker = process_start(argv, site->log);
    assert_non_null(site->broker);
    bool ready = await(is_ready, site, AWAIT_DEADLINE_MS) && process_alive(site->broker);
    if (!ready)
        process_print_log(site->broker);
    assert_true(ready);
}

struct site *site_open(const struct site_options *options)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    struct site *site = calloc(1, sizeof *site);
    struct answer answer;
    assert_non_null(site);
    assert_int_equal(folder_create(site->folder), 0);
    folder_path(site->socket, sizeof site->socket, site->folder, "s");
    folder_path(site->config, sizeof site->config, site->folder, "mcastd.conf");
    start(site, options);
    struct line *line = site_line(site);
    assert_int_equal(line_request(line, "GET", "/openapi.json", NULL, NULL), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 200);
    assert_non_null(answer.json);
    site->contract = json_incref(answer.json);
    answer_release(&answer);
    line_close(line);
    return site;
}

void site_stop(struct site *site)
{
    struct process *broker = site->broker;
    site->broker = NULL;
    assert_int_equal(process_stop(broker), 0);
}

void site_close(struct site *site)
{
    if (site->broker)
        site_stop(site);
    json_decref(site->contract);
    folder_destroy(site->folder);
    free(site);
}

void site_restart(struct site *site, const struct site_options *options)
{
    if (site->broker)
        site_stop(site);
    start(site, options);
}

static char *log_of(const struct site *site)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(site->log, "re");
    assert_non_null(file);
    ssize_t length = getdelim(&text, &size, '\0', file);
    fclose(file);
    assert_true(length > 0);
    return text;
}

bool site_logged(const struct site *site, const char *text)
{
    char *log = log_of(site);
    bool there = strstr(log, text);
    free(log);
    return there;
}

static unsigned reloads(const struct site *site, const char *word)
{
    unsigned count = 0;
    char *log = log_of(site);
    for (const char *at = log; (at = strstr(at, word)); at++)
        count++;
    free(log);
    return count;
}

static bool has_reloaded(void *arg)
{
    struct site *site = arg;
    return reloads(site, RELOADED) + reloads(site, KEPT) > site->reloads;
}

bool site_reload(struct site *site, const struct site_options *options)
{
    unsigned taken = reloads(site, RELOADED);
    site->reloads = taken + reloads(site, KEPT);
    write_config(site, options);
    process_signal(site->broker, SIGHUP);
    bool ended = await(has_reloaded, site, AWAIT_DEADLINE_MS);
    if (!ended)
        process_print_log(site->broker);
    assert_true(ended);
    return reloads(site, RELOADED) > taken;
}

struct process *site_broker(const struct site *site)
{
    return site->broker;
}

struct line *site_line(const struct site *site)
{
    return line_open(site->socket, 0);
}

struct line *site_tcp(const struct site *site)
{
    return line_open(NULL, site->port);
}

int site_port(const struct site *site)
{
    return site->port;
}

const char *site_folder(const struct site *site)
{
    return site->folder;
}

const char *site_socket(const struct site *site)
{
    return site->socket;
}

json_t *site_contract(const struct site *site)
{
    return site->contract;
}

int site_ask(struct site *site, struct line *line, const char *method, const char *path,
             const char *headers, const char *body, struct answer *answer)
{
    char why[256] = "";
    struct answer own;
    if (!answer)
        answer = &own;
    assert_int_equal(line_request(line, method, path, headers, body), 0);
    assert_int_equal(line_answer(line, strcmp(method, "HEAD") == 0, answer), 0);
    if (!contract_holds(site->contract, method, path, answer, why, sizeof why))
        fail_msg("%s %s: %s: %s\n%s", method, path, why, answer->head, answer->body);
    int status = answer->status;
    if (answer == &own)
        answer_release(&own);
    return status;
}

int site_call(struct site *site, const char *method, const char *path, const char *body,
              struct answer *answer)
{
    struct line *line = site_line(site);
    int status = site_ask(site, line, method, path, NULL, body, answer);
    line_close(line);
    return status;
}

int site_metrics(struct site *site, struct answer *answer)
{
    struct line *line = site_line(site);
    int status =
        site_ask(site, line, "GET", "/metrics", "Cache-Control: no-cache\r\n", NULL, answer);
    line_close(line);
    return status;
}

void site_expect_problem(struct answer *answer, int status, const char *code, const char *field)
{
    assert_int_equal(answer->status, status);
    assert_string_equal(json_string_value(json_object_get(answer->json, "code")), code);
    assert_int_equal(json_integer_value(json_object_get(answer->json, "status")), status);
    const char *named = json_string_value(json_object_get(answer->json, "field"));
    assert_string_equal(named ? named : "", field ? field : "");
    answer_release(answer);
}

void site_refused(struct site *site, const char *method, const char *path, const char *body,
                  int status, const char *code, const char *field)
{
    struct answer answer;
    site_call(site, method, path, body, &answer);
    site_expect_problem(&answer, status, code, field);
}

json_int_t site_number(struct site *site, const char *path, const char *member)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", path, NULL, &answer), 200);
    const json_int_t number = answer_number(&answer, member);
    answer_release(&answer);
    return number;
}

char *site_append_request(char *at, const char *method, int number)
{
    const char *body = strcmp(method, "PUT") ? "" : ONE_NODE;
    return at + sprintf(at,
                        "%s /v1/clusters/elcap/jobs/f%d HTTP/1.1\r\nHost: x\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        method, number, strlen(body), body);
}

long site_metric(struct site *site, const char *name)
{
    char line[96];
    struct answer answer;
    snprintf(line, sizeof line, "\n%s ", name);
    assert_int_equal(site_metrics(site, &answer), 200);
    const char *at = strstr(answer.body, line);
    assert_non_null(at);
    const long value = strtol(at + strlen(line), NULL, 10);
    answer_release(&answer);
    return value;
}

long site_accepted(struct site *site, const char *listener)
{
    char name[64];
    snprintf(name, sizeof name, "mcastd_http_connections_total{door=\"%s\"}", listener);
    return site_metric(site, name);
}
