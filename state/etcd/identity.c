/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/identity.h"

#include "base/hex.h"
#include "base/memory.h"
#include "state/etcd/shared.h"
#include "trust/keyfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REPLACED_MAX = 16, /* ids that a ledger names */
    FILE_MAX = 1024,
};

/* ---- what the key says ---- */

static json_t *parse(const struct wire_kv *ledger)
{
    assert(!ledger || ledger->value);
    return ledger ? json_loadb(ledger->value, ledger->value_length, JSON_REJECT_DUPLICATES, NULL)
                  : NULL;
}

static char *print(json_t *object)
{
    assert(object);
    char *text = memory_must(json_dumps(object, JSON_COMPACT));
    json_decref(object);
    return text;
}

static const char *id_of(const json_t *ledger)
{
    const char *id = json_string_value(json_object_get(ledger, "id"));
    return id && strlen(id) < IDENTITY_ID_SIZE ? id : "";
}

static bool has(const json_t *array, const char *text)
{
    assert(text);
    const json_t *item;
    size_t i;
    json_array_foreach(array, i, item)
    {
        const char *one = json_string_value(item);
        if (one && strcmp(one, text) == 0)
            return true;
    }
    return false;
}

/* Without random numbers it stays without one, until the next leader. */
static void give_id(json_t *ledger)
{
    assert(json_is_object(ledger));
    unsigned char bytes[IDENTITY_ID_SIZE / 2];
    char id[IDENTITY_ID_SIZE] = "";
    if (keybytes_draw(bytes, sizeof bytes, &(struct error){0}) < 0)
        return;
    hex_write(bytes, sizeof bytes, id);
    (void)json_object_set_new(ledger, "id", json_string(id));
}

static void give_fabric(const struct etcd *etcd, json_t *ledger)
{
    assert(etcd->fabric);
    assert(json_is_object(ledger));
    json_t *fabric = json_loads(etcd->fabric, 0, NULL);
    if (json_array_size(fabric) > 0)
        (void)json_object_set(ledger, "fabric", fabric);
    json_decref(fabric);
}

char *identity_found(const struct etcd *etcd)
{
    assert(etcd->key_id[0] != '\0');
    json_t *ledger = memory_must(json_pack("{s:s,s:i,s:s}", "format", "mcastd", "version",
                                           LEDGER_VERSION, "key", etcd->key_id));
    give_id(ledger);
    give_fabric(etcd, ledger);
    return print(ledger);
}

static void replace(json_t *ledger, const char *id)
{
    assert(json_is_object(ledger));
    assert(id);
    json_t *replaces = json_object_get(ledger, "replaces");
    if (!json_is_array(replaces)) {
        replaces = json_array();
        (void)json_object_set_new(ledger, "replaces", replaces);
    }
    if (id[0] != '\0' && !has(replaces, id))
        (void)json_array_append_new(replaces, json_string(id));
    if (json_array_size(replaces) > REPLACED_MAX)
        (void)json_array_remove(replaces, 0);
}

char *identity_amended(struct etcd *etcd, const struct wire_kv *ledger, bool accept)
{
    assert(ledger);
    assert(ledger->value);
    json_t *before = parse(ledger), *after = json_deep_copy(before);
    if (accept) {
        pthread_mutex_lock(&etcd->lock);
        replace(after, etcd->seen.id);
        pthread_mutex_unlock(&etcd->lock);
        replace(after, id_of(before));
    }
    if (accept || id_of(before)[0] == '\0')
        give_id(after);
    give_fabric(etcd, after);
    const bool same = json_equal(before, after);
    json_decref(before);
    char *text = print(after);
    if (!same)
        return text;
    free(text);
    return NULL;
}

/* ---- whether it is the right one ---- */

bool identity_is_one(const struct wire_kv *kv)
{
    assert(kv);
    json_t *ledger = parse(kv);
    const char *format = json_string_value(json_object_get(ledger, "format"));
    const bool is = format && strcmp(format, "mcastd") == 0;
    json_decref(ledger);
    return is;
}

int identity_judge(const struct etcd *etcd, const struct wire_kv *kv, struct error *err)
{
    assert(kv);
    assert(etcd->name);
    json_t *ledger = parse(kv);
    const char *key = json_string_value(json_object_get(ledger, "key"));
    const json_int_t version = json_integer_value(json_object_get(ledger, "version"));
    int code = 0;
    if (!identity_is_one(kv) || !key || version < 1)
        code = error_set(err, ERROR_INVALID,
                         "%s is not one: its key \"ledger\" is of another program: use another "
                         "[state] prefix",
                         etcd->name);
    else if (version > LEDGER_VERSION)
        code =
            error_set(err, ERROR_VERSION,
                      "%s is of version %" JSON_INTEGER_FORMAT ", this mcastd knows %d: install a "
                      "newer one",
                      etcd->name, version, LEDGER_VERSION);
    else if (strcmp(key, etcd->key_id) != 0)
        code = error_set(err, ERROR_REFUSED,
                         "%s is sealed with another key than that of %s: all its brokers must have "
                         "the same key file",
                         etcd->name, etcd->sealing.key_file);
    json_decref(ledger);
    return code;
}

int identity_check(struct etcd *etcd, const struct wire_kv *kv, uint64_t commits, struct error *err)
{
    assert(kv || commits == 0);
    json_t *ledger = parse(kv);
    const char *id = id_of(ledger);
    const char *advice = "stop all brokers, then see \"The right ledger\" in "
                         "share/doc/mcastd/high-availability.md";
    pthread_mutex_lock(&etcd->lock);
    const struct identity_seen seen = etcd->seen;
    pthread_mutex_unlock(&etcd->lock);
    int code = 0;
    if (seen.id[0] == '\0' || has(json_object_get(ledger, "replaces"), seen.id))
        code = 0;
    else if (!kv)
        code = error_set(err, ERROR_REFUSED,
                         "%s is gone (was etcd emptied?), though this broker has seen %" PRIu64
                         " commits of it: %s",
                         etcd->name, seen.commits, advice);
    else if (strcmp(id, seen.id) != 0)
        code =
            error_set(err, ERROR_REFUSED, "%s is another one than this broker has seen there: %s",
                      etcd->name, advice);
    else if (commits < seen.commits)
        code = error_set(err, ERROR_REFUSED,
                         "%s is an old one (was etcd restored?): it has %" PRIu64
                         " commits, this broker has seen %" PRIu64 ": %s",
                         etcd->name, commits, seen.commits, advice);
    json_decref(ledger);
    return code;
}

int identity_check_fabric(const struct etcd *etcd, const struct wire_kv *kv, struct error *err)
{
    assert(kv);
    assert(etcd->fabric);
    json_t *ledger = parse(kv), *own = json_loads(etcd->fabric, 0, NULL), *item;
    const json_t *its = json_object_get(ledger, "fabric");
    bool same = json_array_size(its) == 0 || json_array_size(own) == 0;
    size_t i;
    json_array_foreach(own, i, item) same =
        same || (json_string_value(item) && has(its, json_string_value(item)));
    const char *first = json_string_value(json_array_get(its, 0));
    if (!same)
        (void)error_set(err, ERROR_INVALID,
                        "%s is of the fabric manager %.60s, [fm] url of this broker is %.60s: is "
                        "its prefix that of another system? If the fabric manager has moved, stop "
                        "all brokers and run mcastd --accept-ledger",
                        etcd->name, first ? first : "?", json_string_value(json_array_get(own, 0)));
    json_decref(ledger);
    json_decref(own);
    return same ? 0 : ERROR_INVALID;
}

/* ---- the file ---- */

int identity_recall(struct etcd *etcd, struct error *err)
{
    assert(etcd->seen.id[0] == '\0');
    static const struct keyfile kind = {
        .holds = "what was seen of the ledger", .guard = KEYFILE_TRUSTED, .max = FILE_MAX};
    struct secret text = {0};
    struct error why = {0};
    if (!etcd->seen_file)
        return 0;
    const int code = keyfile_text(etcd->seen_file, &kind, &text, &why);
    if (code == ERROR_REFUSED) {
        *err = why;
        return code;
    }
    json_t *seen = code == 0 ? json_loads(secret_expose(text), 0, NULL) : NULL;
    const char *prefix = json_string_value(json_object_get(seen, "prefix"));
    const json_int_t commits = json_integer_value(json_object_get(seen, "commits"));
    if (prefix && strcmp(prefix, etcd->prefix) == 0 && commits >= 0) {
        (void)snprintf(etcd->seen.id, sizeof etcd->seen.id, "%s", id_of(seen));
        etcd->seen.commits = (uint64_t)commits;
    }
    json_decref(seen);
    secret_wipe(&text);
    return 0;
}

void identity_note(struct etcd *etcd, const struct wire_kv *kv, uint64_t commits)
{
    assert(!kv || kv->value);
    if (etcd->accepts) /* what is in doubt stays so until it is accepted, and for others then */
        return;
    json_t *ledger = parse(kv);
    struct identity_seen *seen = &etcd->seen;
    pthread_mutex_lock(&etcd->lock);
    const bool other = kv && strcmp(id_of(ledger), seen->id) != 0;
    if (other)
        (void)snprintf(seen->id, sizeof seen->id, "%s", id_of(ledger));
    if (other || commits > seen->commits) {
        seen->commits = commits;
        etcd->unsaved = true;
    }
    pthread_mutex_unlock(&etcd->lock);
    json_decref(ledger);
}

/* Not made durable: what is lost with a host is that the ledger went on, not which one it was. */
int etcd_remember(struct etcd *etcd, struct error *err)
{
    pthread_mutex_lock(&etcd->lock);
    const struct identity_seen seen = etcd->seen;
    const bool unsaved = etcd->unsaved;
    etcd->unsaved = false;
    pthread_mutex_unlock(&etcd->lock);
    if (!etcd->seen_file || !unsaved || seen.id[0] == '\0')
        return 0;
    char *text = print(memory_must(json_pack("{s:s,s:s,s:I}", "prefix", etcd->prefix, "id", seen.id,
                                             "commits", (json_int_t)seen.commits)));
    char *fresh = memory_format("%s.new", etcd->seen_file);
    const int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool written = file >= 0 && dprintf(file, "%s\n", text) > 0;
    const int code = written && rename(fresh, etcd->seen_file) == 0
                         ? 0
                         : error_set(err, ERROR_IO,
                                     "what was seen of the ledger cannot be written to %s, so an "
                                     "emptied or restored etcd may not be noticed: %s",
                                     etcd->seen_file, strerror(errno));
    if (file >= 0)
        (void)close(file);
    free(fresh);
    free(text);
    return code;
}
