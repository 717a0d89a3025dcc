/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/etcd.h"

#include "base/hex.h"
#include "base/memory.h"
#include "state/etcd/shared.h"
#include "tokens/seal_key.h"
#include "trust/keyfile.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PASSWORD_MAX = 1024, URL_MAX = 255 };

/* ---- how the members are reached ---- */

static void drop_access(struct gateway_access *access)
{
    assert(!access || access->holders > 0);
    if (!access || --access->holders > 0)
        return;
    for (size_t i = 0; i < access->count; i++)
        free(access->endpoints[i]);
    free(access->endpoints);
    free(access->ca);
    free(access->cert);
    free(access->key);
    free(access->user);
    secret_wipe(&access->password);
    free(access);
}

static int check_url(const char *url, const char *what, struct error *err)
{
    assert(url && what);
    const size_t scheme = strncmp(url, "https://", 8) == 0  ? 8
                          : strncmp(url, "http://", 7) == 0 ? 7
                                                            : 0;
    for (const char *c = url; *c; c++)
        if (!isgraph((unsigned char)*c) || strchr("\"\\@?#", *c))
            return error_set(err, ERROR_INVALID, "%s: '%c' is not allowed in it", what,
                             isgraph((unsigned char)*c) ? *c : '?');
    return scheme > 0 && url[scheme] != '\0' && strlen(url) <= URL_MAX
               ? 0
               : error_set(err, ERROR_INVALID, "%s is not like https://host:2379", what);
}

static int check_file(const char *path, const char *holds, enum keyfile_guard guard,
                      struct error *err)
{
    assert(holds);
    if (!path)
        return 0;
    const int file = keyfile_open(path, &(struct keyfile){.holds = holds, .guard = guard}, err);
    if (file < 0)
        return file;
    close(file);
    return 0;
}

static int read_access(const struct etcd_options *options, struct gateway_access *access,
                       struct error *err)
{
    static const struct keyfile password = {
        .holds = "the password", .guard = KEYFILE_SECRET, .max = PASSWORD_MAX, .line = true};
    int code = 0;
    assert(options->endpoint_count > 0 && !options->cert == !options->key);
    assert(!options->user == !options->password_file);
    access->endpoints = memory_zeroed(options->endpoint_count * sizeof *access->endpoints);
    for (size_t i = 0; i < options->endpoint_count && code == 0; i++) {
        code = check_url(options->endpoints[i], "an endpoint", err);
        access->endpoints[access->count++] = memory_text(options->endpoints[i]);
    }
    access->ca = memory_text(options->ca);
    access->cert = memory_text(options->cert);
    access->key = memory_text(options->key);
    access->user = memory_text(options->user);
    if (code || (code = check_file(options->ca, "authorities", KEYFILE_TRUSTED, err)) ||
        (code = check_file(options->cert, "a certificate", KEYFILE_PUBLIC, err)) ||
        (code = check_file(options->key, "a key", KEYFILE_SECRET, err)))
        return code;
    return options->password_file
               ? keyfile_text(options->password_file, &password, &access->password, err)
               : 0;
}

/* Without an advertise or a host in UTF-8: without it. */
static int describe(struct etcd *etcd, const struct etcd_options *options, struct error *err)
{
    assert(options->fabric || options->fabric_count == 0);
    char host[65] = "";
    const char *text = options->configuration ? options->configuration : "";
    struct chain digest = etcd->digesting;
    const int code = chain_add(&digest, (const unsigned char *)text, strlen(text), err);
    if (code < 0)
        return code;
    if (options->configuration)
        hex_write(digest.mac, sizeof etcd->configuration / 2, etcd->configuration);
    chain_wipe(&digest);
    (void)gethostname(host, sizeof host - 1);
    json_t *claim = memory_must(json_object());
    (void)json_object_set_new(claim, "url", json_string(options->advertise));
    (void)json_object_set_new(claim, "host", json_string(host));
    (void)json_object_set_new(claim, "version", json_string(options->version));
    (void)json_object_set_new(claim, "configuration", json_string(etcd->configuration));
    json_t *fabric = memory_must(json_array());
    for (size_t i = 0; i < options->fabric_count; i++) {
        const char *scheme = strstr(options->fabric[i], "://");
        (void)json_array_append_new(fabric, json_string(scheme ? scheme + 3 : options->fabric[i]));
    }
    free(etcd->next_fabric);
    free(etcd->next_claim);
    etcd->next_fabric = memory_must(json_dumps(fabric, JSON_COMPACT));
    json_decref(fabric);
    etcd->next_claim = memory_must(json_dumps(claim, JSON_COMPACT));
    json_decref(claim);
    return 0;
}

const char *etcd_configuration(const struct etcd *etcd)
{
    return etcd->configuration;
}

int etcd_change(struct etcd *etcd, const struct etcd_options *options, struct error *err)
{
    assert(options);
    struct gateway_access *access = memory_zeroed(sizeof *access);
    access->holders = 1;
    int code = read_access(options, access, err);
    code = code ? code : describe(etcd, options, err);
    pthread_mutex_lock(&etcd->lock);
    struct gateway_access *useless = code ? access : etcd->access;
    if (code == 0)
        etcd->access = access;
    drop_access(useless);
    pthread_mutex_unlock(&etcd->lock);
    return code;
}

/* ---- requests ---- */

struct gateway_reply etcd_post(struct etcd *etcd, struct gateway *gateway, const char *path,
                               const char *body, size_t answer_max, int64_t timeout_ms)
{
    assert(etcd->access);
    assert(timeout_ms > 0);
    pthread_mutex_lock(&etcd->lock);
    if (gateway->access != etcd->access) {
        struct gateway_access *old = gateway->access;
        gateway_use(gateway, etcd->access);
        etcd->access->holders++;
        drop_access(old);
    }
    pthread_mutex_unlock(&etcd->lock);
    return gateway_post(gateway, &(struct gateway_request){.path = path,
                                                           .body = body,
                                                           .answer_max = answer_max,
                                                           .timeout_ms = timeout_ms});
}

void etcd_sequence(char out[static COMMIT_TEXT_SIZE], uint64_t lease, uint64_t commit)
{
    assert(lease > 0);
    (void)snprintf(out, COMMIT_TEXT_SIZE, "%016" PRIx64 ":%" PRIu64, lease, commit);
}

void etcd_release_gateway(struct etcd *etcd, struct gateway *gateway)
{
    struct gateway_access *access = gateway->access;
    gateway_release(gateway);
    pthread_mutex_lock(&etcd->lock);
    drop_access(access);
    pthread_mutex_unlock(&etcd->lock);
}

/* ---- questions, on the thread ---- */

static void run(void *arg)
{
    struct etcd *etcd = arg;
    assert(etcd->asked);
    etcd_answer(etcd);
    worker_report(&etcd->worker);
}

void etcd_ask(struct etcd *etcd, const struct leader_ask *ask, int64_t try_ms)
{
    assert(!etcd->asked && ask->question != LEADER_NOTHING && try_ms > 0);
    assert((ask->question == LEADER_TEST) == (ask->lease == 0) && ask->lease <= INT64_MAX);
    etcd->asked = true;
    etcd->ask = *ask;
    etcd->try_ms = try_ms;
    if (etcd->next_claim) {
        free(etcd->claim);
        free(etcd->fabric);
        etcd->claim = etcd->next_claim;
        etcd->fabric = etcd->next_fabric;
        etcd->next_claim = etcd->next_fabric = NULL;
    }
    worker_wake(&etcd->worker);
}

int etcd_fd(const struct etcd *etcd)
{
    return etcd->worker.ended;
}

bool etcd_take_answer(struct etcd *etcd, struct etcd_answer *out)
{
    if (!worker_reported(&etcd->worker))
        return false;
    assert(etcd->asked);
    etcd->asked = false;
    *out = etcd->answer;
    return true;
}

/* ---- its life ---- */

static int read_key(struct etcd *etcd, const char *path, struct error *err)
{
    assert(path);
    struct seal_key key;
    unsigned char id[KEYBYTES_ID_SIZE];
    int code = seal_key_read(path, &key, err);
    if (code == ERROR_NOT_FOUND)
        return error_set(
            err, code,
            "the key file %s is missing: copy that of the other brokers; for the first "
            "broker of a new ledger make one with openssl rand -hex 32",
            path);
    if (code < 0)
        return code;
    code = sealing_init(&etcd->sealing, etcd->name, path, &key, err);
    if (code == 0)
        code = keybytes_id("mcastd seal key id", key.bytes, id, err);
    if (code == 0)
        code = chain_key(&etcd->digesting, key.bytes, "mcastd configuration", NULL, 0, err);
    seal_key_wipe(&key);
    if (code == 0)
        hex_write(id, sizeof id, etcd->key_id);
    return code;
}

static int take_prefix(struct etcd *etcd, const char *prefix, struct error *err)
{
    assert(!etcd->prefix);
    const size_t length = strlen(prefix);
    bool printable = prefix[0] == '/' && prefix[length - 1] != '/' && length <= KEY_PREFIX_MAX;
    for (size_t i = 0; i < length; i++)
        printable = printable && isgraph((unsigned char)prefix[i]);
    if (!printable)
        return error_set(err, ERROR_INVALID,
                         "the prefix of the keys is not like /mcastd/elcap, of at most %d bytes",
                         KEY_PREFIX_MAX);
    etcd->prefix = memory_text(prefix);
    etcd->name = memory_format("the ledger %s in etcd", prefix);
    etcd->leader = key_named(prefix, "/leader");
    etcd->ledger = key_named(prefix, "/ledger");
    etcd->seq = key_named(prefix, "/seq");
    return 0;
}

struct etcd *etcd_open(const struct etcd_options *options, struct error *err)
{
    assert(options->prefix);
    assert(options->key_file);
    struct etcd *etcd = memory_zeroed(sizeof *etcd);
    pthread_mutex_init(&etcd->lock, NULL);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        (void)memory_must(NULL);
    etcd->lease_ms = options->lease_ms;
    etcd->waits = options->configuration != NULL;
    etcd->accepts = options->accepts;
    etcd->seen_file = options->state_path ? memory_format("%s.seen", options->state_path) : NULL;
    if (take_prefix(etcd, options->prefix, err) == 0 &&
        read_key(etcd, options->key_file, err) == 0 && etcd_change(etcd, options, err) == 0 &&
        identity_recall(etcd, err) == 0 &&
        worker_start(&etcd->worker, "leadership", run, etcd, err) == 0)
        return etcd;
    etcd_close(etcd);
    return NULL;
}

void etcd_close(struct etcd *etcd)
{
    if (!etcd)
        return;
    worker_stop(&etcd->worker);
    (void)etcd_remember(etcd, &(struct error){0});
    etcd_release_gateway(etcd, &etcd->gateway);
    drop_access(etcd->access);
    sealing_release(&etcd->sealing);
    pthread_mutex_destroy(&etcd->lock);
    free(etcd->prefix);
    free(etcd->name);
    free(etcd->claim);
    free(etcd->next_claim);
    free(etcd->fabric);
    free(etcd->next_fabric);
    free(etcd->seen_file);
    chain_wipe(&etcd->digesting);
    free(etcd);
    curl_global_cleanup();
}
