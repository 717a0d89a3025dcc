/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/shared.h"

#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TTL_MAX_S = 86400 };

/* No key is created at this revision. */
#define REVISION_NEVER INT64_MAX

/* ---- is the prefix ours? ---- */

json_t *etcd_look(const struct etcd *etcd)
{
    assert(etcd->prefix[0] == '/');
    json_t *looks =
        json_pack("[o,o]", wire_range(&etcd->ledger, NULL, 1), wire_any(&etcd->seq, NULL));
    /* Between the names that we know. */
    struct key from = key_named(etcd->prefix, "/"), to;
    const struct key end = key_end(&from);
    for (size_t i = 0; i <= KEY_NAMES; i++) {
        to = i < KEY_NAMES ? key_named(etcd->prefix, key_names[i]) : end;
        wire_add(looks, wire_any(&from, &to));
        from = i < KEY_NAMES ? key_end(&to) : end;
    }
    return looks;
}

static int refuse_foreign(const struct etcd *etcd, const struct wire_kv *kv, struct error *err)
{
    assert(kv->key.length < KEY_MAX);
    char name[120];
    (void)snprintf(name, sizeof name, "%.*s", (int)kv->key.length, kv->key.text);
    text_make_printable(name);
    return error_set(err, ERROR_INVALID,
                     "%s has the key %s, which is not one of a ledger: use another [state] prefix, "
                     "or delete it",
                     etcd->name, name);
}

int etcd_judge(const struct etcd *etcd, const json_t *transaction, struct error *err)
{
    struct wire_kv kv;
    bool there = false;
    for (size_t i = 0; i < ETCD_LOOKS; i++) {
        const int found = wire_kv(wire_ranged(transaction, i), 0, &kv);
        if (found < 0)
            return error_set(err, ERROR_IO, "an answer of etcd lacks what was asked for");
        if (found == 0)
            continue;
        there = there || i == 0;
        const int code = i == 0   ? identity_judge(etcd, &kv, err)
                         : i == 1 ? 0
                                  : refuse_foreign(etcd, &kv, err);
        free(kv.value);
        if (code < 0)
            return code;
    }
    return there ? 0 : 1;
}

/* How often the sequence key was put, says this place of a transaction's answer. */
static uint64_t commits_of(const json_t *transaction, size_t at)
{
    struct wire_kv seq;
    return wire_head(wire_ranged(transaction, at), 0, &seq) == 1 ? seq.version : 0;
}

int etcd_check(struct etcd *etcd, const json_t *transaction, size_t at, bool fabric,
               struct error *err)
{
    assert(err);
    struct wire_kv ledger;
    const int found = wire_kv(wire_ranged(transaction, at), 0, &ledger);
    if (found < 0)
        return error_set(err, ERROR_IO, "an answer of etcd lacks what was asked for");
    if (found == 0 && identity_check(etcd, NULL, 0, err) == 0)
        return error_set(err, ERROR_CORRUPT, "%s lacks its key \"ledger\"", etcd->name);
    if (found == 0)
        return err->code;
    int code = identity_check(etcd, &ledger, commits_of(transaction, at + 1), err);
    if (code == 0 && fabric)
        code = identity_check_fabric(etcd, &ledger, err);
    free(ledger.value);
    return code;
}

/* The ledger key and the sequence key are at this place of the answer, and the next. */
static void remember(struct etcd *etcd, const json_t *transaction, size_t at)
{
    assert(etcd->asked);
    struct wire_kv ledger;
    if (wire_kv(wire_ranged(transaction, at), 0, &ledger) != 1)
        return;
    identity_note(etcd, &ledger, commits_of(transaction, at + 1));
    free(ledger.value);
}

/* ---- questions ---- */

static struct gateway_reply post(struct etcd *etcd, const char *path, json_t *request)
{
    assert(path[0] == '/');
    assert(etcd->try_ms > 0);
    char *body = wire_text(request);
    const struct gateway_reply reply =
        etcd_post(etcd, &etcd->gateway, path, body, ETCD_ANSWER_MAX, etcd->try_ms);
    free(body);
    return reply;
}

/* A prefix that was not empty is no place for a new ledger. */
static json_t *found(const struct etcd *etcd)
{
    assert(etcd->key_id[0] != '\0');
    assert(etcd->ask.question == LEADER_TEST);
    json_t *operations = json_array();
    char *value = identity_found(etcd);
    if (etcd->accepts || etcd->seen.id[0] == '\0')
        wire_add(operations, wire_put(&etcd->ledger, value, strlen(value), 0));
    free(value);
    return operations;
}

/* A condition that is false, under which nothing is done; else, where nothing is below the prefix,
 * a new ledger; else what is there is read. */
static struct gateway_reply post_test(struct etcd *etcd)
{
    assert(etcd->ask.question == LEADER_TEST);
    const struct key all = key_named(etcd->prefix, "/"), end = key_end(&all);
    /* The ledger first: for the other, etcd reads all keys. */
    json_t *look_or_make = json_pack(
        "{s:[o,o],s:o,s:o}", "compare", wire_if_created(&etcd->ledger, NULL, 0),
        wire_if_created(&all, &end, 0), "success", found(etcd), "failure", etcd_look(etcd));
    return post(etcd, "/v3/kv/txn",
                json_pack("{s:[o],s:[{s:o}]}", "compare",
                          wire_if_created(&etcd->ledger, NULL, REVISION_NEVER), "failure",
                          "request_txn", look_or_make));
}

/* Below the prefix of another ledger, keys of this one would be records of that. What may not be
 * read is taken for not there. */
static struct gateway_reply post_parents(struct etcd *etcd)
{
    assert(etcd->prefix[0] == '/');
    assert(etcd->ask.question == LEADER_TEST);
    char parent[KEY_PREFIX_MAX + 1];
    json_t *looks = json_array();
    for (const char *end = etcd->prefix; (end = strchr(end + 1, '/'));) {
        (void)snprintf(parent, sizeof parent, "%.*s", (int)(end - etcd->prefix), etcd->prefix);
        const struct key ledger = key_named(parent, "/ledger");
        wire_add(looks, wire_range(&ledger, NULL, 1));
    }
    return post(etcd, "/v3/kv/txn", json_pack("{s:o}", "success", looks));
}

static enum leader_outcome parents_answered(const struct etcd *etcd, struct etcd_answer *answer,
                                            const struct gateway_reply *reply)
{
    assert(etcd->ask.question == LEADER_TEST);
    struct wire_kv kv;
    bool below = false;
    for (size_t i = 0; wire_ranged(reply->body, i) && !below; i++)
        if (wire_kv(wire_ranged(reply->body, i), 0, &kv) == 1) {
            below = identity_is_one(&kv);
            free(kv.value);
        }
    if (below)
        (void)error_set(&answer->error, ERROR_INVALID,
                        "%s would be among the keys of another ledger, whose prefix is the "
                        "beginning of its own: set another [state] prefix",
                        etcd->name);
    if (reply->end == GATEWAY_UNKNOWN)
        answer->error = reply->error;
    return below ? LEADER_REFUSED : reply->end == GATEWAY_UNKNOWN ? LEADER_UNKNOWN : LEADER_OK;
}

static enum leader_outcome test_answered(struct etcd *etcd, struct etcd_answer *answer,
                                         const struct gateway_reply *reply)
{
    assert(etcd->ask.question == LEADER_TEST);
    assert(reply->body);
    struct error *err = &answer->error, *doubt = etcd->accepts ? &etcd->doubt : err;
    const json_t *looked = json_object_get(
        json_array_get(json_object_get(reply->body, "responses"), 0), "response_txn");
    if (json_is_true(json_object_get(reply->body, "succeeded"))) {
        (void)error_set(
            err, ERROR_INVALID,
            "%s carries out a transaction whose condition is false: this is no etcd, or "
            "something between changes requests, and no ledger is safe there",
            reply->asked);
        return LEADER_REFUSED;
    }
    if (json_is_true(json_object_get(looked, "succeeded")))
        return identity_check(etcd, NULL, 0, doubt) == 0 || etcd->accepts ? LEADER_OK
                                                                          : LEADER_REFUSED;
    int there = etcd_judge(etcd, looked, err);
    if (there == 1)
        (void)error_set(
            err, ERROR_INVALID,
            "%s lacks its key \"ledger\", but is not empty: use another [state] prefix, "
            "or delete what is below this one",
            etcd->name);
    if (there == 0 && etcd_check(etcd, looked, 0, true, doubt) < 0)
        there = etcd->accepts ? 0 : doubt->code;
    if (there == 0)
        remember(etcd, looked, 0);
    return there == 0 ? LEADER_OK : err->code == ERROR_IO ? LEADER_UNKNOWN : LEADER_REFUSED;
}

/* Its own key, when it does not say already what it is to. */
static json_t *put_own(const struct etcd *etcd)
{
    assert(etcd->waits);
    assert(etcd->ask.lease > 0);
    const struct key own = key_broker(etcd->prefix, etcd->ask.lease);
    return json_pack("{s:{s:[o],s:[o]}}", "request_txn", "compare",
                     wire_if_value(&own, etcd->claim), "failure",
                     wire_put(&own, etcd->claim, strlen(etcd->claim), etcd->ask.lease));
}

static struct gateway_reply post_claim(struct etcd *etcd)
{
    assert(etcd->ask.lease > 0);
    char sequence[COMMIT_TEXT_SIZE];
    const bool knows = !etcd->accepts && etcd->seen.commits > 0;
    etcd_sequence(sequence, etcd->ask.lease, 0);
    return post(
        etcd, "/v3/kv/txn",
        json_pack("{s:[o,o,o*],s:[o,o],s:[o,o,o,o*]}", "compare",
                  wire_if_created(&etcd->leader, NULL, 0), wire_if_after(&etcd->ledger, 0),
                  knows ? wire_if_after(&etcd->seq, etcd->seen.commits - 1) : NULL, "success",
                  wire_put(&etcd->leader, etcd->claim, strlen(etcd->claim), etcd->ask.lease),
                  wire_put(&etcd->seq, sequence, strlen(sequence), 0), "failure",
                  wire_range(&etcd->leader, NULL, 1), wire_range(&etcd->ledger, NULL, 1),
                  wire_any(&etcd->seq, NULL), etcd->waits ? put_own(etcd) : NULL));
}

/* False, and out unchanged: it is not there, too long, or not printable. */
static bool read_word(const json_t *object, const char *name, char *out, size_t size)
{
    assert(size > 0);
    const char *word = json_string_value(json_object_get(object, name));
    size_t length = 0;
    while (word && isgraph((unsigned char)word[length]))
        length++;
    const bool good = word && word[length] == '\0' && length < size;
    if (good)
        memcpy(out, word, length + 1);
    return good;
}

static void read_url(const struct wire_kv *kv, struct etcd_answer *answer)
{
    assert(kv->value);
    json_t *claim = json_loadb(kv->value, kv->value_length, 0, NULL);
    (void)read_word(claim, "url", answer->holder_url, sizeof answer->holder_url);
    json_decref(claim);
}

static enum leader_outcome claim_answered(struct etcd *etcd, struct etcd_answer *answer,
                                          const struct gateway_reply *reply)
{
    assert(etcd->ask.question == LEADER_CAMPAIGN);
    assert(etcd->ask.lease > 0);
    struct wire_kv kv;
    struct leader_answer *said = &answer->answer;
    if (json_is_true(json_object_get(reply->body, "succeeded"))) {
        said->holder = etcd->ask.lease;
        if (wire_number(json_object_get(reply->body, "header"), "revision",
                        &said->holder_revision) &&
            said->holder_revision > 0)
            return LEADER_OK;
    } else if (wire_kv(wire_ranged(reply->body, 0), 0, &kv) == 1) {
        said->holder = kv.lease;
        said->holder_revision = kv.created;
        read_url(&kv, answer);
        free(kv.value);
        identity_note(etcd, NULL, commits_of(reply->body, 2));
        if (said->holder > 0)
            return LEADER_OK;
    }
    if (said->holder == 0 && wire_head(wire_ranged(reply->body, 0), 0, &kv) == 0) {
        const int code = etcd_check(etcd, reply->body, 1, false, &answer->error);
        if (code < 0 && code != ERROR_IO)
            return LEADER_REFUSED;
    }
    (void)error_set(&answer->error, ERROR_IO,
                    "%s does not say who leads: the key %s/leader has no lease, or the answer is "
                    "not one of etcd",
                    reply->asked, etcd->prefix);
    return LEADER_UNKNOWN;
}

/* ttl_s 0: it has one. */
static struct gateway_reply post_lease(struct etcd *etcd, const char *path, int64_t ttl_s)
{
    assert(etcd->ask.lease > 0);
    assert(ttl_s >= 0);
    return post(etcd, path,
                json_pack("{s:I,s:o*}", "ID", (json_int_t)etcd->ask.lease, "TTL",
                          ttl_s > 0 ? json_integer(ttl_s) : NULL));
}

static struct gateway_reply post_keepalive(struct etcd *etcd)
{
    assert(etcd->ask.question == LEADER_GRANT || etcd->ask.question == LEADER_KEEPALIVE);
    return post_lease(etcd, "/v3/lease/keepalive", 0);
}

/* A grant that was carried out when it was sent before: the keepalive tells its time. */
static struct gateway_reply post_grant(struct etcd *etcd)
{
    assert(etcd->ask.question == LEADER_GRANT);
    struct gateway_reply reply = post_lease(etcd, "/v3/lease/grant", (etcd->lease_ms + 999) / 1000);
    return reply.end == GATEWAY_EXISTS ? post_keepalive(etcd) : reply;
}

/* A keepalive's answer is wrapped, and without a time when there is no such lease. */
static enum leader_outcome lease_answered(const struct etcd *etcd, struct etcd_answer *answer,
                                          const struct gateway_reply *reply)
{
    assert(etcd->ask.lease > 0);
    const json_t *result = json_object_get(reply->body, "result");
    uint64_t lease, ttl_s;
    if (!result)
        result = reply->body;
    if (!wire_number(result, "ID", &lease) || !wire_number(result, "TTL", &ttl_s) ||
        lease != etcd->ask.lease || ttl_s > TTL_MAX_S) {
        (void)error_set(&answer->error, ERROR_IO, "%s does not tell the lease's time",
                        reply->asked);
        return LEADER_UNKNOWN;
    }
    answer->answer.ttl_ms = (int64_t)ttl_s * 1000;
    return ttl_s > 0 ? LEADER_OK : LEADER_GONE;
}

static struct gateway_reply post_question(struct etcd *etcd)
{
    assert(etcd->ask.question != LEADER_NOTHING);
    switch (etcd->ask.question) {
    case LEADER_TEST:
        return post_test(etcd);
    case LEADER_GRANT:
        return post_grant(etcd);
    case LEADER_CAMPAIGN:
        return post_claim(etcd);
    case LEADER_KEEPALIVE:
        return post_keepalive(etcd);
    case LEADER_RESIGN:
    case LEADER_NOTHING:
        break;
    }
    return post_lease(etcd, "/v3/lease/revoke", 0);
}

static enum leader_outcome judge(struct etcd *etcd, struct etcd_answer *answer,
                                 const struct gateway_reply *reply)
{
    assert((reply->end == GATEWAY_ANSWERED) == (reply->body != NULL));
    if (reply->end == GATEWAY_NOT_FOUND && etcd->ask.lease > 0)
        return LEADER_GONE;
    if (reply->end != GATEWAY_ANSWERED) {
        answer->error = reply->error;
        return LEADER_UNKNOWN;
    }
    switch (etcd->ask.question) {
    case LEADER_TEST:
        return test_answered(etcd, answer, reply);
    case LEADER_CAMPAIGN:
        return claim_answered(etcd, answer, reply);
    case LEADER_GRANT:
    case LEADER_KEEPALIVE:
        return lease_answered(etcd, answer, reply);
    case LEADER_RESIGN:
    case LEADER_NOTHING:
        break;
    }
    return LEADER_OK;
}

static bool read_standby(const struct etcd *etcd, const struct wire_kv *kv,
                         struct etcd_standby *out)
{
    assert(kv->value);
    const struct key key = key_broker(etcd->prefix, kv->lease);
    json_t *claim = json_loadb(kv->value, kv->value_length, JSON_REJECT_DUPLICATES, NULL);
    const bool good =
        kv->lease > 0 && kv->key.length == key.length &&
        memcmp(kv->key.text, key.text, key.length) == 0 &&
        read_word(claim, "url", out->url, sizeof out->url) &&
        read_word(claim, "host", out->host, sizeof out->host) &&
        read_word(claim, "version", out->version, sizeof out->version) &&
        read_word(claim, "configuration", out->configuration, sizeof out->configuration);
    json_decref(claim);
    return good;
}

/* All brokers that wait, without itself, which once did. */
static void read_standbys(const struct etcd *etcd, const json_t *range, struct etcd_answer *answer)
{
    assert(etcd->held > 0);
    assert(answer->standbys.count == 0);
    struct etcd_standbys *standbys = &answer->standbys;
    struct wire_kv kv;
    int found;
    for (size_t at = 0; at <= ETCD_STANDBYS_MAX && (found = wire_kv(range, at, &kv)) != 0; at++) {
        const bool other = found < 0 || kv.lease != etcd->held;
        if (other && (found < 0 || standbys->count == ETCD_STANDBYS_MAX ||
                      !read_standby(etcd, &kv, &standbys->all[standbys->count])))
            standbys->malformed++;
        else if (other)
            standbys->count++;
        if (found == 1)
            free(kv.value);
    }
    answer->looked = json_is_object(range);
}

/* The ledger's key says what this leader knows better, if it is still what was read. */
static void amend(struct etcd *etcd, const json_t *range)
{
    assert(etcd->held > 0);
    assert(etcd->held_revision > 0);
    struct wire_kv kv;
    char *text = NULL;
    if (etcd->accepts || wire_kv(range, 0, &kv) != 1)
        return;
    if (identity_judge(etcd, &kv, &(struct error){0}) == 0)
        text = identity_amended(etcd, &kv, false);
    if (text)
        json_decref(post(etcd, "/v3/kv/txn",
                         json_pack("{s:[o,o],s:[o]}", "compare",
                                   wire_if_created(&etcd->leader, NULL, etcd->held_revision),
                                   wire_if_value(&etcd->ledger, kv.value), "success",
                                   wire_put(&etcd->ledger, text, strlen(text), 0)))
                        .body);
    free(text);
    free(kv.value);
}

/* The lease lives, but the leader key was deleted by hand. Not if that is not answered. */
static bool key_is_gone(struct etcd *etcd, struct etcd_answer *answer)
{
    assert(etcd->held == etcd->ask.lease);
    struct wire_kv kv;
    const struct key brokers = key_named(etcd->prefix, "/broker/"), end = key_end(&brokers);
    const struct gateway_reply reply =
        post(etcd, "/v3/kv/txn",
             json_pack("{s:[o,o,o,o]}", "success", wire_range(&etcd->leader, NULL, 1),
                       wire_range(&brokers, &end, ETCD_STANDBYS_MAX + 1),
                       wire_range(&etcd->ledger, NULL, 1), wire_any(&etcd->seq, NULL)));
    const int found = wire_head(wire_ranged(reply.body, 0), 0, &kv);
    const bool gone = found == 0 || (found == 1 && kv.lease != etcd->held);
    read_standbys(etcd, wire_ranged(reply.body, 1), answer);
    if (found == 1 && !gone) {
        amend(etcd, wire_ranged(reply.body, 2));
        remember(etcd, reply.body, 2);
    }
    json_decref(reply.body);
    return gone;
}

void etcd_answer(struct etcd *etcd)
{
    assert(etcd->asked);
    assert(etcd->ask.question != LEADER_NOTHING);
    struct etcd_answer *answer = &etcd->answer;
    const int64_t began_us = worker_now_us();
    *answer = (struct etcd_answer){.answer.question = etcd->ask.question};
    struct gateway_reply reply = {0};
    if (etcd->ask.question == LEADER_TEST) {
        reply = post_parents(etcd);
        answer->answer.outcome = parents_answered(etcd, answer, &reply);
    } else {
        answer->answer.outcome = LEADER_OK;
    }
    if (answer->answer.outcome == LEADER_OK) {
        json_decref(reply.body);
        reply = post_question(etcd);
        answer->answer.outcome = judge(etcd, answer, &reply);
    }
    answer->answer.sent_ms = reply.sent_ms;
    (void)snprintf(answer->member, sizeof answer->member, "%s", reply.asked);
    answer->took_us = worker_now_us() - began_us;
    if (answer->answer.outcome == LEADER_OK && answer->answer.holder == etcd->ask.lease) {
        etcd->held = answer->answer.holder;
        etcd->held_revision = answer->answer.holder_revision;
    }
    if (answer->answer.outcome == LEADER_OK && etcd->ask.question == LEADER_KEEPALIVE &&
        etcd->held == etcd->ask.lease && key_is_gone(etcd, answer))
        answer->answer.outcome = LEADER_GONE;
    json_decref(reply.body);
}
