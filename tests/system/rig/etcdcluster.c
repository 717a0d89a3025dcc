/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/etcdcluster.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/port.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ARGS_MAX = 64,
    TEXT_SIZE = 128,
    TRIES = 10, /* of all members with other ports */
    TIMEOUT_MS = 10000,
};

struct member {
    struct port client, peer;
    char name[16], url[TEXT_SIZE], peer_url[TEXT_SIZE], data[TEXT_SIZE], log[TEXT_SIZE];
    struct process *process; /* NULL: killed */
    long log_begins;         /* where what this process wrote begins */
    bool paused;
    struct plainhttp *http;
};

struct etcdcluster {
    char folder[FOLDER_PATH_SIZE];
    unsigned count;
    struct network *network;
    struct member members[ETCDCLUSTER_MAX];
    char endpoints[ETCDCLUSTER_MAX * TEXT_SIZE], peers[ETCDCLUSTER_MAX * TEXT_SIZE];
    struct {
        char quota[24], heartbeat[12], election[12];
        char ca[TEXT_SIZE], cert[TEXT_SIZE], key[TEXT_SIZE];
        char client_cert[TEXT_SIZE], client_key[TEXT_SIZE];
        bool tls;
        const char *const *more;
    } args;
};

static void draw_ports(struct etcdcluster *cluster)
{
    const char *scheme = cluster->args.tls ? "https" : "http";
    size_t endpoints = 0, peers = 0;

    for (unsigned i = 0; i < cluster->count; i++) {
        struct member *member = &cluster->members[i];
        port_release(&member->client);
        port_release(&member->peer);
        port_draw(&member->client);
        port_draw(&member->peer);
        const char *address = etcdcluster_address(cluster, i);
        snprintf(member->url, sizeof member->url, "%s://%s:%d", scheme, address,
                 member->client.number);
        snprintf(member->peer_url, sizeof member->peer_url, "%s://%s:%d", scheme, address,
                 member->peer.number);
        endpoints +=
            (size_t)snprintf(cluster->endpoints + endpoints, sizeof cluster->endpoints - endpoints,
                             "%s%s", i > 0 ? ", " : "", member->url);
        peers += (size_t)snprintf(cluster->peers + peers, sizeof cluster->peers - peers, "%s%s=%s",
                                  i > 0 ? "," : "", member->name, member->peer_url);
    }
}

/* ---- a member ---- */

static void add_tls(struct etcdcluster *cluster, const char **argv, size_t *argc)
{
    const char *const pairs[][2] = {
        {"--trusted-ca-file", cluster->args.ca},
        {"--cert-file", cluster->args.cert},
        {"--key-file", cluster->args.key},
        {"--peer-trusted-ca-file", cluster->args.ca},
        {"--peer-cert-file", cluster->args.cert},
        {"--peer-key-file", cluster->args.key},
        {"--client-cert-auth", "--peer-client-cert-auth"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        argv[(*argc)++] = pairs[i][0];
        argv[(*argc)++] = pairs[i][1];
    }
}

static int member_start(struct etcdcluster *cluster, struct member *member)
{
    const char *argv[ARGS_MAX] = {ETCD,
                                  "--name",
                                  member->name,
                                  "--data-dir",
                                  member->data,
                                  "--listen-client-urls",
                                  member->url,
                                  "--advertise-client-urls",
                                  member->url,
                                  "--listen-peer-urls",
                                  member->peer_url,
                                  "--initial-advertise-peer-urls",
                                  member->peer_url,
                                  "--initial-cluster",
                                  cluster->peers,
                                  "--initial-cluster-token",
                                  cluster->folder,
                                  "--heartbeat-interval",
                                  cluster->args.heartbeat,
                                  "--election-timeout",
                                  cluster->args.election,
                                  "--quota-backend-bytes",
                                  cluster->args.quota,
                                  "--logger",
                                  "zap"};
    struct stat log;
    size_t argc = 0;

    assert(!member->process);
    while (argv[argc])
        argc++;
    if (cluster->args.tls)
        add_tls(cluster, argv, &argc);
    for (const char *const *more = cluster->args.more; more && *more; more++) {
        assert(argc < ARGS_MAX - 1);
        argv[argc++] = *more;
    }
    member->log_begins = stat(member->log, &log) == 0 ? log.st_size : 0;
    member->paused = false;
    network_enter(cluster->network, (int)(member - cluster->members));
    member->process = process_start(argv, member->log);
    network_enter(cluster->network, -1);
    return member->process ? 0 : -1;
}

static void member_kill(struct member *member)
{
    process_kill(member->process);
    member->process = NULL;
}

/* Whether it has ended because of its ports. */
static bool port_was_taken(const struct member *member)
{
    FILE *log = fopen(member->log, "re");
    char line[4096];
    bool taken = false;

    if (!log)
        return false;
    if (fseek(log, member->log_begins, SEEK_SET) == 0)
        while (!taken && fgets(line, sizeof line, log))
            taken = strstr(line, "address already in use");
    fclose(log);
    return taken;
}

static int member_connect(struct etcdcluster *cluster, struct member *member)
{
    plainhttp_destroy(member->http);
    member->http = plainhttp_create(member->url, NULL);
    if (!member->http || plainhttp_set_timeout(member->http, TIMEOUT_MS) < 0 ||
        (cluster->args.tls &&
         plainhttp_use_certificate(member->http, cluster->args.ca, cluster->args.client_cert,
                                   cluster->args.client_key) < 0))
        return -1;
    return 0;
}

/* ---- all of them ---- */

enum health { STARTING, HEALTHY, TAKEN, BROKEN };

struct wait {
    struct etcdcluster *cluster;
    enum health health;
};

static enum health member_health(struct member *member)
{
    if (!process_alive(member->process))
        return port_was_taken(member) ? TAKEN : BROKEN;
    return plainhttp_probe(member->http, "/health") == 200 ? HEALTHY : STARTING;
}

/* Also holds when waiting is of no use. */
static bool all_are_healthy(void *arg)
{
    struct wait *wait = arg;

    wait->health = HEALTHY;
    for (unsigned i = 0; i < wait->cluster->count && wait->health == HEALTHY; i++) {
        struct member *member = &wait->cluster->members[i];
        if (member->process && !member->paused)
            wait->health = member_health(member);
    }
    return wait->health != STARTING;
}

static enum health await_health(struct etcdcluster *cluster)
{
    struct wait wait = {.cluster = cluster};

    await(all_are_healthy, &wait, AWAIT_DEADLINE_MS);
    return wait.health;
}

static int start_all(struct etcdcluster *cluster)
{
    draw_ports(cluster);
    for (unsigned i = 0; i < cluster->count; i++)
        if (member_start(cluster, &cluster->members[i]) < 0 ||
            member_connect(cluster, &cluster->members[i]) < 0)
            return -1;
    return 0;
}

static void print_logs(const struct etcdcluster *cluster)
{
    for (unsigned i = 0; i < cluster->count; i++)
        if (cluster->members[i].process)
            process_print_log(cluster->members[i].process);
}

static void kill_all(struct etcdcluster *cluster)
{
    for (unsigned i = 0; i < cluster->count; i++)
        member_kill(&cluster->members[i]);
}

/* Only ports that were free are bound; when one was taken meanwhile, all begin anew with others. */
static int bring_up(struct etcdcluster *cluster)
{
    for (unsigned try = 0; try < TRIES; try++) {
        char data[32];
        for (unsigned i = 0; i < cluster->count; i++) {
            struct member *member = &cluster->members[i];
            snprintf(member->name, sizeof member->name, "m%u", i + 1);
            snprintf(data, sizeof data, "m%u-%u", i + 1, try + 1);
            folder_path(member->data, sizeof member->data, cluster->folder, data);
            snprintf(data, sizeof data, "m%u.log", i + 1);
            folder_path(member->log, sizeof member->log, cluster->folder, data);
        }
        if (start_all(cluster) < 0)
            return -1;
        const enum health health = await_health(cluster);
        if (health == HEALTHY)
            return 0;
        if (health != TAKEN) {
            fprintf(stderr, "etcd does not become healthy\n");
            print_logs(cluster);
            return -1;
        }
        kill_all(cluster);
    }
    fprintf(stderr, "no free ports for etcd in %d tries\n", TRIES);
    return -1;
}

void etcdcluster_set_quota(struct etcdcluster *cluster, long long bytes)
{
    snprintf(cluster->args.quota, sizeof cluster->args.quota, "%lld", bytes);
}

static void take_options(struct etcdcluster *cluster, const struct etcdcluster_options *options)
{
    cluster->count = options->members ? options->members : 1;
    assert(cluster->count == 1 || cluster->count == ETCDCLUSTER_MAX);
    etcdcluster_set_quota(cluster, options->quota_bytes);
    snprintf(cluster->args.heartbeat, sizeof cluster->args.heartbeat, "%d",
             options->heartbeat_ms ? options->heartbeat_ms : 100);
    snprintf(cluster->args.election, sizeof cluster->args.election, "%d",
             options->election_ms ? options->election_ms : 1000);
    cluster->args.more = options->args;
    cluster->network = options->network;
    cluster->args.tls = options->certificates;
    if (!options->certificates)
        return;
    folder_path(cluster->args.ca, TEXT_SIZE, options->certificates, "ca.pem");
    folder_path(cluster->args.cert, TEXT_SIZE, options->certificates, "server.pem");
    folder_path(cluster->args.key, TEXT_SIZE, options->certificates, "server.key");
    folder_path(cluster->args.client_cert, TEXT_SIZE, options->certificates, "client.pem");
    folder_path(cluster->args.client_key, TEXT_SIZE, options->certificates, "client.key");
}

bool etcdcluster_possible(void)
{
    return access(ETCD, X_OK) == 0;
}

struct etcdcluster *etcdcluster_create(const struct etcdcluster_options *options)
{
    struct etcdcluster *cluster = calloc(1, sizeof *cluster);

    if (!cluster)
        return NULL;
    take_options(cluster, options);
    if (folder_create(cluster->folder) < 0) {
        free(cluster);
        return NULL;
    }
    if (bring_up(cluster) < 0) {
        etcdcluster_destroy(cluster);
        return NULL;
    }
    return cluster;
}

void etcdcluster_destroy(struct etcdcluster *cluster)
{
    if (!cluster)
        return;
    kill_all(cluster);
    for (unsigned i = 0; i < cluster->count; i++) {
        plainhttp_destroy(cluster->members[i].http);
        port_release(&cluster->members[i].client);
        port_release(&cluster->members[i].peer);
    }
    folder_destroy(cluster->folder);
    free(cluster);
}

static struct member *member_of(struct etcdcluster *cluster, unsigned member)
{
    assert(member < cluster->count);
    return &cluster->members[member];
}

unsigned etcdcluster_members(const struct etcdcluster *cluster)
{
    return cluster->count;
}

const char *etcdcluster_url(const struct etcdcluster *cluster, unsigned member)
{
    return member_of((struct etcdcluster *)cluster, member)->url;
}

const char *etcdcluster_address(const struct etcdcluster *cluster, unsigned member)
{
    return cluster->network ? network_address(cluster->network, member) : "127.0.0.1";
}

int etcdcluster_port(const struct etcdcluster *cluster, unsigned member)
{
    return member_of((struct etcdcluster *)cluster, member)->client.number;
}

const char *etcdcluster_endpoints(const struct etcdcluster *cluster)
{
    return cluster->endpoints;
}

struct process *etcdcluster_process(const struct etcdcluster *cluster, unsigned member)
{
    return member_of((struct etcdcluster *)cluster, member)->process;
}

void etcdcluster_kill(struct etcdcluster *cluster, unsigned member)
{
    member_kill(member_of(cluster, member));
}

int etcdcluster_restart(struct etcdcluster *cluster, unsigned member)
{
    return member_start(cluster, member_of(cluster, member));
}

void etcdcluster_pause(struct etcdcluster *cluster, unsigned member)
{
    struct member *paused = member_of(cluster, member);

    process_signal(paused->process, SIGSTOP);
    paused->paused = true;
}

void etcdcluster_resume(struct etcdcluster *cluster, unsigned member)
{
    struct member *resumed = member_of(cluster, member);

    process_signal(resumed->process, SIGCONT);
    resumed->paused = false;
}

/* The port of a killed member may have been taken for a moment. */
static bool start_again(struct etcdcluster *cluster)
{
    for (unsigned i = 0; i < cluster->count; i++) {
        struct member *member = &cluster->members[i];
        if (!member->process || process_alive(member->process))
            continue;
        member_kill(member);
        if (member_start(cluster, member) < 0)
            return false;
    }
    return true;
}

int etcdcluster_await(struct etcdcluster *cluster)
{
    const int64_t end = await_now_ns() + (int64_t)AWAIT_DEADLINE_MS * 1000000;
    enum health health;

    while ((health = await_health(cluster)) == TAKEN && await_now_ns() < end)
        if (!start_again(cluster))
            return -1;
    if (health == HEALTHY)
        return 0;
    fprintf(stderr, "etcd does not become healthy\n");
    print_logs(cluster);
    return -1;
}

/* ---- calls ---- */

int etcdcluster_call(struct etcdcluster *cluster, unsigned member, const char *path,
                     const char *body, struct plainhttp_reply *reply)
{
    return plainhttp_call(member_of(cluster, member)->http, "POST", path, body, reply);
}

int etcdcluster_leader(struct etcdcluster *cluster)
{
    for (unsigned i = 0; i < cluster->count; i++) {
        struct plainhttp_reply reply;
        const char *leader = NULL, *self = NULL;
        bool leads = false;
        if (!cluster->members[i].process || cluster->members[i].paused)
            continue;
        if (etcdcluster_call(cluster, i, "/v3/maintenance/status", "{}", &reply) == 200 &&
            json_unpack(reply.json, "{s:s,s:{s:s}}", "leader", &leader, "header", "member_id",
                        &self) == 0)
            leads = strcmp(leader, self) == 0;
        plainhttp_reply_release(&reply);
        if (leads)
            return (int)i;
    }
    return -1;
}

static char *base64(const char *text, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *encoded = calloc(1, (length + 2) / 3 * 4 + 1), *out = encoded;

    for (size_t i = 0; encoded && i < length; i += 3) {
        unsigned bits = 0;
        for (size_t j = i; j < i + 3; j++)
            bits = bits << 8 | (j < length ? (unsigned char)text[j] : 0);
        for (int j = 0; j < 4; j++)
            *out++ = i + (size_t)j > length ? '=' : digits[bits >> (18 - 6 * j) & 63];
    }
    return encoded;
}

static char *unbase64(const char *encoded)
{
    const size_t length = strlen(encoded);
    unsigned char *bytes = calloc(1, length + 1);
    size_t size = 0;
    unsigned bits = 0, got = 0;

    for (size_t i = 0; bytes && i < length && encoded[i] != '='; i++) {
        const char c = encoded[i];
        const int digit = c >= 'a'   ? c - 'a' + 26
                          : c >= 'A' ? c - 'A'
                          : c >= '0' ? c - '0' + 52
                          : c == '+' ? 62
                                     : 63;
        bits = bits << 6 | (unsigned)digit;
        if ((got += 6) >= 8)
            bytes[size++] = (unsigned char)(bits >> (got -= 8));
    }
    return (char *)bytes;
}

struct question {
    struct etcdcluster *cluster;
    const char *path;
    char *body;
    struct plainhttp_reply *reply;
};

/* Of the first member that can. Not answered: the members have just chosen another leader. */
static bool answers(void *arg)
{
    struct question *question = arg;
    const struct etcdcluster *cluster = question->cluster;
    unsigned i = 0;

    while (i < cluster->count - 1 && (!cluster->members[i].process || cluster->members[i].paused))
        i++;
    plainhttp_reply_release(question->reply);
    return etcdcluster_call(question->cluster, i, question->path, question->body,
                            question->reply) != 503;
}

/* A call about the keys from key on and before key_end (NULL: that key). The caller
 * releases the reply, whatever is returned. */
static int call_range(struct etcdcluster *cluster, const char *path, const char *key,
                      const char *value, const char *key_end, size_t key_end_length,
                      struct plainhttp_reply *reply)
{
    char *key64 = base64(key, key[0] ? strlen(key) : 1);
    char *value64 = value ? base64(value, strlen(value)) : NULL;
    char *end64 = key_end ? base64(key_end, key_end_length) : NULL;
    json_t *body = json_pack("{s:s,s:s*,s:s*}", "key", key64, "value", value64, "range_end", end64);
    struct question question = {cluster, path, json_dumps(body, JSON_COMPACT), reply};

    await(answers, &question, AWAIT_DEADLINE_MS);
    if (reply->status > 0 && reply->status != 200)
        fprintf(stderr, "etcd refuses %s: %d %s\n", path, reply->status, reply->text);
    free(question.body);
    json_decref(body);
    free(end64);
    free(value64);
    free(key64);
    return reply->status;
}

int etcdcluster_wipe(struct etcdcluster *cluster)
{
    struct plainhttp_reply reply = {0};
    const int status = call_range(cluster, "/v3/kv/deleterange", "", NULL, "\0", 1, &reply);

    plainhttp_reply_release(&reply);
    return status == 200 ? 0 : -1;
}

int etcdcluster_put(struct etcdcluster *cluster, const char *key, const char *value)
{
    struct plainhttp_reply reply = {0};
    const int status = call_range(cluster, "/v3/kv/put", key, value, NULL, 0, &reply);

    plainhttp_reply_release(&reply);
    return status == 200 ? 0 : -1;
}

char *etcdcluster_get(struct etcdcluster *cluster, const char *key)
{
    struct plainhttp_reply reply = {0};
    char *text = NULL;

    if (call_range(cluster, "/v3/kv/range", key, NULL, NULL, 0, &reply) == 200) {
        json_t *kv = json_array_get(json_object_get(reply.json, "kvs"), 0);
        const char *value = json_string_value(json_object_get(kv, "value"));
        if (kv)
            text = unbase64(value ? value : ""); /* an empty one is left out */
    }
    plainhttp_reply_release(&reply);
    return text;
}

long etcdcluster_count(struct etcdcluster *cluster, const char *prefix)
{
    struct plainhttp_reply reply = {0};
    char end[TEXT_SIZE];
    size_t length = strlen(prefix);
    long count = -1;

    assert(length < sizeof end);
    memcpy(end, prefix, length + 1);
    if (length > 0)
        end[length - 1]++;
    if (call_range(cluster, "/v3/kv/range", prefix, NULL, end, length > 0 ? length : 1, &reply) ==
        200) {
        const char *text = json_string_value(json_object_get(reply.json, "count"));
        count = text ? strtol(text, NULL, 10) : 0; /* 0 is left out */
    }
    plainhttp_reply_release(&reply);
    return count;
}
