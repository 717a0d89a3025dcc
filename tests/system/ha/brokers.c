/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/ha/brokers.h"

#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <unistd.h>

static char *file_of(const struct brokers *brokers, unsigned broker, const char *suffix,
                     char out[128])
{
    char name[32];
    (void)snprintf(name, sizeof name, "%u.%s", broker, suffix);
    return folder_path(out, 128, brokers->folder, name);
}

void brokers_open(struct brokers *brokers, struct etcdcluster *cluster)
{
    static const char key[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
    char path[128];
    *brokers = (struct brokers){.cluster = cluster, .lease = "8s", .lines = ""};
    assert_int_equal(etcdcluster_await(cluster), 0);
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_int_equal(folder_create(brokers->folder), 0);
    assert_int_equal(folder_write(brokers->folder, "state.key", 0600, key), 0);
    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        file_of(brokers, i, "sock", path);
        (void)snprintf(brokers->socket[i], sizeof brokers->socket[i], "unix:%.100s", path);
        brokers->clients[i] = plainhttp_create("http://broker", path);
        assert_int_equal(plainhttp_set_timeout(brokers->clients[i], 5000), 0);
    }
}

void brokers_close(struct brokers *brokers)
{
    for (unsigned i = 0; i < BROKERS_MAX; i++) {
        brokers_kill(brokers, i);
        plainhttp_destroy(brokers->clients[i]);
    }
    folder_destroy(brokers->folder);
}

void brokers_configure(const struct brokers *brokers, unsigned broker, const char *endpoints)
{
    char text[2048], name[32];
    (void)snprintf(name, sizeof name, "%u.conf", broker);
    (void)snprintf(text, sizeof text,
                   "[broker]\nsocket = %s\nadvertise = %s\nadmins = %u\n"
                   "[state]\nstore = etcd\nendpoints = %s\nprefix = /mcastd/test\nlease = %s\n"
                   "key_file = %s/state.key\npath = %s/%u.db\n%s\n"
                   "[cluster \"elcap\"]\nusers = %u\n",
                   brokers->socket[broker] + strlen("unix:"), brokers->socket[broker],
                   (unsigned)geteuid(), endpoints, brokers->lease, brokers->folder, brokers->folder,
                   broker, brokers->lines, (unsigned)geteuid());
    assert_int_equal(folder_write(brokers->folder, name, 0600, text), 0);
}

void brokers_start(struct brokers *brokers, unsigned broker)
{
    char config[128], log[128];
    const char *const argv[] = {MCASTD, "--config", file_of(brokers, broker, "conf", config), NULL};
    assert_null(brokers->processes[broker]);
    brokers_configure(brokers, broker,
                      brokers->endpoints[broker] ? brokers->endpoints[broker]
                                                 : etcdcluster_endpoints(brokers->cluster));
    network_enter(brokers->network, (int)(brokers->first_host + broker));
    brokers->processes[broker] = process_start(argv, file_of(brokers, broker, "log", log));
    network_enter(brokers->network, -1);
    assert_non_null(brokers->processes[broker]);
}

int brokers_call(struct brokers *brokers, unsigned broker, const char *method, const char *path,
                 const char *body, struct plainhttp_reply *reply)
{
    return plainhttp_call(brokers->clients[broker], method, path, body, reply);
}

/* ---- waiting ---- */

struct wish {
    struct brokers *brokers;
    unsigned broker;
    const char *word, *path, *body;
    unsigned count;
    int status;
};

static bool has_role(void *arg)
{
    const struct wish *wish = arg;
    struct plainhttp_reply reply;
    if (plainhttp_probe(wish->brokers->clients[wish->broker], "/healthz") != 200)
        return false;
    (void)brokers_call(wish->brokers, wish->broker, "GET", "/v1/status", NULL, &reply);
    const char *role = json_string_value(json_object_get(reply.json, "role"));
    const bool has = role && strcmp(role, wish->word) == 0;
    plainhttp_reply_release(&reply);
    return has;
}

void brokers_await_role(struct brokers *brokers, unsigned broker, const char *role)
{
    struct wish wish = {.brokers = brokers, .broker = broker, .word = role};
    if (!await(has_role, &wish, AWAIT_DEADLINE_MS)) {
        process_print_log(brokers->processes[broker]);
        fail_msg("broker %u is not %s", broker, role);
    }
}

static bool one_leads(void *arg)
{
    struct wish *wish = arg;
    for (wish->broker = 0; wish->broker < BROKERS_MAX; wish->broker++)
        if (wish->brokers->processes[wish->broker] && has_role(wish))
            return true;
    return false;
}

unsigned brokers_await_leader(struct brokers *brokers)
{
    struct wish wish = {.brokers = brokers, .word = "leader"};
    assert_true(await(one_leads, &wish, AWAIT_DEADLINE_MS));
    return wish.broker;
}

void brokers_start_all(struct brokers *brokers, unsigned count)
{
    brokers_start(brokers, 0);
    brokers_await_role(brokers, 0, "leader");
    for (unsigned i = 1; i < count; i++)
        brokers_start(brokers, i);
    for (unsigned i = 1; i < count; i++)
        brokers_await_log(brokers, i, ".sock leads", 1);
}

static bool has_ended(void *process)
{
    return !process_alive(process);
}

int brokers_await_exit(struct brokers *brokers, unsigned broker)
{
    struct process *process = brokers->processes[broker];
    assert_true(await(has_ended, process, AWAIT_DEADLINE_MS));
    const int status = process_exit_status(process);
    brokers_kill(brokers, broker);
    return status;
}

void brokers_kill(struct brokers *brokers, unsigned broker)
{
    process_kill(brokers->processes[broker]);
    brokers->processes[broker] = NULL;
}

void brokers_signal(const struct brokers *brokers, unsigned broker, int signum)
{
    process_signal(brokers->processes[broker], signum);
}

static bool has_logged(void *arg)
{
    const struct wish *wish = arg;
    char line[4096];
    unsigned count = 0;
    FILE *log = fopen(wish->path, "re");
    while (log && fgets(line, sizeof line, log))
        count += strstr(line, wish->word) != NULL;
    if (log)
        (void)fclose(log);
    return count >= wish->count;
}

void brokers_await_log(const struct brokers *brokers, unsigned broker, const char *text,
                       unsigned times)
{
    char path[128];
    struct wish wish = {
        .word = text, .path = file_of(brokers, broker, "log", path), .count = times};
    if (!await(has_logged, &wish, AWAIT_DEADLINE_MS))
        fail_msg("the log of broker %u lacks \"%s\" %u times", broker, text, times);
}

static bool succeeds(void *arg)
{
    struct wish *wish = arg;
    struct plainhttp_reply reply;
    int status = 0;
    for (unsigned i = 0; i < BROKERS_MAX && status != wish->status; i++) {
        if (!wish->brokers->processes[i] ||
            plainhttp_probe(wish->brokers->clients[i], "/readyz") != 200)
            continue;
        status = brokers_call(wish->brokers, i, wish->word, wish->path, wish->body, &reply);
        plainhttp_reply_release(&reply);
    }
    return status == wish->status;
}

void brokers_retry(struct brokers *brokers, const char *method, const char *path, const char *body,
                   int status)
{
    struct wish wish = {
        .brokers = brokers, .word = method, .path = path, .body = body, .status = status};
    if (!await(succeeds, &wish, AWAIT_DEADLINE_MS))
        fail_msg("%s %s: never %d", method, path, status);
}
