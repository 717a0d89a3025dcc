/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/leading.h"

#include "state/plainjson.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_ANSWER_MAX = 64 << 20, PAGES_AHEAD = 4, LOOK_PAUSE_MS = 50, COPY_TIMEOUT_MS = 20000 };

/* What comes with the first look, and then in pages, in the order of store.h. */
static const enum record_kind singles[] = {RECORD_COUNTERS, RECORD_FOUNDED, RECORD_FACTS,
                                           RECORD_ROOT_KEYS, RECORD_PARTITIONS};
static const enum record_kind paged[] = {RECORD_COUNTERS, RECORD_SHARED_VNI, RECORD_RESERVATION,
                                         RECORD_NODE,     RECORD_SUM,        RECORD_CLEANUP,
                                         RECORD_EVENT,    RECORD_NODE_NICS,  RECORD_TRAFFIC};
enum {
    SINGLES = sizeof singles / sizeof *singles,
    PAGED = sizeof paged / sizeof *paged,
    AT_REDO = ETCD_LOOKS + SINGLES, /* of the first look's operations, */
    AT_LEADER,                      /* and the last one */
};

/* ---- the thread ---- */

static bool same_cluster(struct leading *leading, const json_t *body)
{
    const json_t *header = json_object_get(body, "header");
    const char *cluster = json_string_value(json_object_get(header, "cluster_id"));
    if (cluster && leading->cluster[0] == '\0')
        (void)snprintf(leading->cluster, sizeof leading->cluster, "%s", cluster);
    return cluster && strcmp(cluster, leading->cluster) == 0;
}

int leading_read(struct leading *leading, const char *path, json_t *request, json_t **body,
                 struct error *err)
{
    assert(leading->limit > 0);
    struct gateway_reply reply = {0};
    *body = NULL;
    if (leading_is_copy(leading))
        atomic_store(&leading->deadline_ms, worker_now_us() / 1000 + COPY_TIMEOUT_MS);
    int code = leading_retry(leading, path, request, PAGE_ANSWER_MAX, &reply, err);
    if (code < 0)
        return code;
    *body = reply.body;
    if (reply.end == GATEWAY_ANSWERED && same_cluster(leading, reply.body))
        return 0;
    if (reply.end == GATEWAY_ANSWERED)
        return error_set(err, ERROR_IO,
                         "cannot read %s: %s is no member of the cluster that was asked before: "
                         "correct [state] endpoints",
                         leading->etcd->name, reply.asked);
    (void)error_set(err, reply.end == GATEWAY_COMPACTED ? ERROR_NOT_LEADER : ERROR_IO,
                    "cannot read %s: %s%s", leading->etcd->name, reply.error.text,
                    reply.end == GATEWAY_COMPACTED
                        ? ": set etcd's --auto-compaction-retention to 5m or more"
                        : "");
    return reply.too_long && leading->limit > 1 ? 1 : err->code;
}

/* That it is the right one; or, when that is to be accepted, what its key is to say. */
static int check_identity(struct leading *leading, const json_t *body, struct error *err)
{
    assert(!leading_is_copy(leading));
    struct etcd *etcd = leading->etcd;
    struct wire_kv ledger;
    if (!etcd->accepts)
        return etcd_check(etcd, body, 0, false, err);
    free(leading->amended);
    leading->amended = NULL;
    if (etcd->doubt.code && wire_kv(wire_ranged(body, 0), 0, &ledger) == 1) {
        leading->amended = identity_amended(etcd, &ledger, etcd->doubt.code == ERROR_REFUSED);
        free(ledger.value);
    }
    return 0;
}

/* The identity again, for what may have come since the test. */
static int look_once(struct leading *leading, struct error *err)
{
    assert(!leading->page.body);
    const char *prefix = leading->etcd->prefix;
    const struct key redo = key_named(prefix, "/redo/"), redo_end = key_end(&redo);
    json_t *guard = json_array(), *looks = etcd_look(leading->etcd);
    if (!leading_is_copy(leading))
        wire_add(guard, wire_if_created(&leading->etcd->leader, NULL, leading->guard.revision));
    for (size_t i = 0; i < SINGLES; i++) {
        const struct key key = key_first(prefix, singles[i]);
        wire_add(looks, wire_range(&key, NULL, 1));
    }
    wire_add(looks, wire_any(&redo, &redo_end));
    wire_add(looks, wire_any(&leading->etcd->leader, NULL));
    int code = leading_read(leading, "/v3/kv/txn",
                            json_pack("{s:o,s:o}", "compare", guard, "success", looks),
                            &leading->page.body, err);
    const json_t *body = leading->page.body;
    if (code != 0)
        return code < 0 ? code : ERROR_IO;
    if (!json_is_true(json_object_get(body, "succeeded")))
        return error_set(err, ERROR_NOT_LEADER, "another broker leads");
    if (!wire_ranged(body, AT_REDO) || !wire_ranged(body, AT_LEADER))
        return error_set(err, ERROR_IO, "an answer of etcd lacks what was asked for");
    if ((code = etcd_judge(leading->etcd, body, err)) == 1)
        code = leading_is_copy(leading)
                   ? error_set(err, ERROR_NOT_FOUND, "%s is not there yet", leading->etcd->name)
                   : error_set(err, ERROR_CORRUPT, "its key \"ledger\" is missing");
    if (code == 0 && !leading_is_copy(leading))
        code = check_identity(leading, body, err);
    if (code == 0 && !wire_number(json_object_get(body, "header"), "revision", &leading->revision))
        code = error_set(err, ERROR_IO, "etcd does not tell its revision");
    return code;
}

/* Whether there is a key in the answer to this operation of the first look. */
static bool there(const struct leading *leading, size_t at)
{
    assert(at <= AT_LEADER);
    struct wire_kv kv;
    return wire_head(wire_ranged(leading->page.body, at), 0, &kv) == 1;
}

static void drop_page(struct leading *leading)
{
    json_decref(leading->page.body);
    leading->page.body = NULL;
}

static int fetch_first(struct leading *leading, struct error *err)
{
    assert(leading->at == 0);
    assert(!leading_is_copy(leading));
    int code = look_once(leading, err);
    if (code || !there(leading, AT_REDO))
        return code;
    drop_page(leading);
    code = redo_finish(leading, err);
    return code ? code : look_once(leading, err);
}

int leading_look_at_copy(struct leading *leading, bool *live, struct error *err)
{
    assert(leading_is_copy(leading));
    assert(live);
    int code = look_once(leading, err);
    for (int tries = 0; code == 0 && there(leading, AT_REDO); tries++) {
        drop_page(leading);
        if (tries == COPY_TIMEOUT_MS / LOOK_PAUSE_MS)
            return error_set(err, ERROR_REFUSED,
                             "%s has a commit that was not carried out: start a broker, which does "
                             "that",
                             leading->etcd->name);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_PAUSE_MS * 1000000L}, NULL);
        code = look_once(leading, err);
    }
    *live = code == 0 && there(leading, AT_LEADER);
    return code;
}

/* etcd counts all keys of the range, whatever the limit: a page that lacks some and does not say so
 * would end the kind too early, and its records would be taken for gone. */
static bool is_whole(const struct page *page)
{
    assert(page->body);
    uint64_t count;
    const size_t here = json_array_size(json_object_get(page->body, "kvs"));
    return wire_number(page->body, "count", &count) &&
           (page->more ? here > 0 && count > here : count == here);
}

static int fetch_page(struct leading *leading, struct error *err)
{
    assert(leading->at > 0 && leading->at < PAGED);
    assert(leading->limit > 0);
    int code;
    do {
        json_t *request = json_pack("{s:o,s:o,s:i,s:I}", "key", wire_key(&leading->from),
                                    "range_end", wire_key(&leading->until), "limit", leading->limit,
                                    "revision", (json_int_t)leading->revision);
        code = leading_read(leading, "/v3/kv/range", request, &leading->page.body, err);
        leading->limit = code == 1 ? leading->limit / 2 : leading->limit;
    } while (code == 1);
    leading->page.more = json_is_true(json_object_get(leading->page.body, "more"));
    if (code == 0 && !is_whole(&leading->page))
        code = error_set(err, ERROR_IO, "an answer of etcd lacks what was asked for");
    return code;
}

static void run(struct store *store)
{
    struct leading *leading = (struct leading *)store;
    struct page *page = &leading->page;
    *page = (struct page){0};
    page->code =
        leading->at == 0 ? fetch_first(leading, &page->error) : fetch_page(leading, &page->error);
}

/* ---- the owner ---- */

static int damaged(const struct leading *leading, struct error *err)
{
    assert(err);
    struct error what = *err;
    return error_set(err, ERROR_CORRUPT,
                     "%s is damaged (%.180s): restore it from a backup, or use another [state] "
                     "prefix",
                     leading->etcd->name, what.text);
}

void leading_refuse(struct store *store, struct error *err)
{
    (void)damaged((struct leading *)store, err);
}

static int check_counted(struct leading *leading, const struct record *record, struct error *err)
{
    assert(leading->counters.kind == RECORD_COUNTERS);
    const struct record *kept = &leading->counters;
    if (record->kind == RECORD_COUNTERS)
        leading->counters = *record;
    if (record->kind == RECORD_RESERVATION &&
        record->u.reservation.number > kept->u.counters.last_number)
        return error_set(err, ERROR_CORRUPT, "reservation %" PRIu64 " is beyond the counters",
                         record->u.reservation.number);
    if (record->kind == RECORD_EVENT && record->u.event.seq > kept->u.counters.last_seq)
        return error_set(err, ERROR_CORRUPT, "event %" PRIu64 " is beyond the counters",
                         record->u.event.seq);
    return 0;
}

static int deliver(struct leading *leading, enum record_kind kind, const struct wire_kv *kv,
                   store_each_fn *each, void *arg, struct error *err)
{
    assert(kv->value);
    assert(each);
    struct record record;
    json_t *object = plainjson_load(kv->value, kv->value_length);
    int code = recordjson_read(&leading->json, kind, object, &record, err);
    json_decref(object);
    if (code < 0)
        return code;
    const struct key key = key_of(leading->etcd->prefix, &record);
    if (key.length != kv->key.length || memcmp(key.text, kv->key.text, key.length) != 0)
        return error_set(err, ERROR_CORRUPT, "%s with the key of another one",
                         record_columns[kind].word);
    code = check_counted(leading, &record, err);
    return code ? code : each(arg, &record);
}

static int deliver_all(struct leading *leading, enum record_kind kind, const json_t *range,
                       store_each_fn *each, void *arg, struct error *err)
{
    assert(each);
    struct wire_kv kv;
    int code = 0, found = 0;
    for (size_t at = 0; code == 0 && (found = wire_kv(range, at, &kv)) == 1; at++) {
        code = deliver(leading, kind, &kv, each, arg, err);
        free(kv.value);
    }
    if (found < 0)
        code = error_set(err, ERROR_IO, "an answer of etcd lacks what was asked for");
    if (code == ERROR_VERSION)
        return error_prefix(err, "%s", leading->etcd->name);
    /* The receiver knows what the records together cannot be. */
    return code == ERROR_CORRUPT && err->code == code ? damaged(leading, err) : code;
}

static int deliver_first(struct leading *leading, const json_t *body, store_each_fn *each,
                         void *arg, struct error *err)
{
    assert(each);
    int code = 0;
    const struct record none = {.kind = RECORD_COUNTERS};
    if (!json_object_get(wire_ranged(body, ETCD_LOOKS), "kvs"))
        code = each(arg, &none);
    for (size_t i = 0; i < SINGLES && code == 0; i++)
        code = deliver_all(leading, singles[i], wire_ranged(body, ETCD_LOOKS + i), each, arg, err);
    return code;
}

/* Before which number the page after this one ends at the latest; 0: before none. etcd counts each
 * key of the range that it is asked for: were that all that is left, the pages of a large ledger
 * would cost it more for that than for reading. */
static uint64_t bound_after(const struct leading *leading, const struct key *first,
                            const struct key *last)
{
    assert(leading->at < PAGED);
    const char *prefix = leading->etcd->prefix;
    const enum record_kind kind = paged[leading->at];
    const uint64_t highest = kind == RECORD_EVENT ? leading->counters.u.counters.last_seq
                                                  : leading->counters.u.counters.last_number;
    uint64_t from, to;
    return key_number(prefix, kind, first, &from) && key_number(prefix, kind, last, &to) &&
                   from <= to && to < highest && to - from < (highest - to) / PAGES_AHEAD
               ? to + (to - from + 1) * PAGES_AHEAD
               : 0;
}

/* Where the next page begins. False: this was the last one. */
static bool turn_page(struct leading *leading, const struct page *page)
{
    assert(leading->at < PAGED);
    struct wire_kv first, last;
    struct key *from = &leading->from;
    const size_t count = json_array_size(json_object_get(page->body, "kvs"));
    uint64_t bound = 0;
    if (page->more && count > 0 && wire_head(page->body, 0, &first) == 1 &&
        wire_head(page->body, count - 1, &last) == 1) {
        *from = last.key;
        from->text[from->length++] = '\0';
        bound = bound_after(leading, &first.key, &last.key);
    } else if (leading->bounded) {
        *from = leading->until;
    } else if (++leading->at == PAGED) {
        return false;
    } else {
        *from = key_first(leading->etcd->prefix, paged[leading->at]);
    }
    const struct key all = key_first(leading->etcd->prefix, paged[leading->at]);
    leading->bounded = bound > 0;
    leading->until =
        bound > 0 ? key_numbered(leading->etcd->prefix, paged[leading->at], bound) : key_end(&all);
    return true;
}

/* The next page is fetched while this one is taken in. */
int leading_load(struct store *store, store_each_fn *each, void *arg, struct error *err)
{
    assert(each);
    struct leading *leading = (struct leading *)store;
    struct error own = {0};
    err = err ? err : &own;
    assert(leading->committer.in_progress == 0);
    if (!leading->loading) {
        leading->loading = true;
        leading->at = 0;
        if (!leading_is_copy(leading)) {
            committer_task(&leading->committer, run);
            return 1;
        }
    } else if (!worker_reported(&leading->committer.worker)) {
        return 1;
    }
    struct page page = leading->page;
    const size_t at = leading->at;
    *err = page.error;
    if (page.code < 0)
        return page.code == ERROR_CORRUPT ? damaged(leading, err) : page.code;
    leading->page = (struct page){0};
    const bool more = turn_page(leading, &page);
    if (more)
        committer_task(&leading->committer, run);
    const int code = at == 0 ? deliver_first(leading, page.body, each, arg, err)
                             : deliver_all(leading, paged[at], page.body, each, arg, err);
    json_decref(page.body);
    recordjson_forget(&leading->json);
    leading->loading = more;
    return code ? code : more;
}
