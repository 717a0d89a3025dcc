/* SPDX-License-Identifier: Apache-2.0 */
#include "state/dump.h"

#include "base/hex.h"
#include "base/memory.h"
#include "state/plainjson.h"
#include "state/recordjson.h"
#include "state/sqlite/schema.h"

#include <assert.h>
#include <openssl/sha.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
    DUMP_VERSION = 1,
    DIGEST_DIGITS = 2 * SHA256_DIGEST_LENGTH,
    KEY_DIGITS = 2 * SEAL_KEY_ID_SIZE,
};

static const char format[] = "mcastd ledger";

/* In the order of store_load. */
static const enum record_kind order[] = {
    RECORD_COUNTERS,   RECORD_FOUNDED,     RECORD_FACTS,   RECORD_ROOT_KEYS, RECORD_PARTITIONS,
    RECORD_SHARED_VNI, RECORD_RESERVATION, RECORD_NODE,    RECORD_SUM,       RECORD_CLEANUP,
    RECORD_EVENT,      RECORD_NODE_NICS,   RECORD_TRAFFIC,
};

enum { KINDS = sizeof order / sizeof order[0], ROOT_KEYS = 3, SINGLES = 5 /* the first so many */ };

static size_t place_of(enum record_kind kind)
{
    size_t place = 0;
    while (order[place] != kind)
        assert(place < KINDS), place++;
    return place;
}

static void digest_text(const char *text, size_t size, char digits[DIGEST_DIGITS + 1])
{
    assert(text);
    unsigned char digest[SHA256_DIGEST_LENGTH];
    (void)SHA256((const unsigned char *)text, size, digest);
    hex_write(digest, sizeof digest, digits);
    digits[DIGEST_DIGITS] = '\0';
}

static void key_digits(const struct sealing *sealing, char digits[KEY_DIGITS + 1])
{
    assert(sealing);
    hex_write(seal_key_id(sealing->seal), SEAL_KEY_ID_SIZE, digits);
    digits[KEY_DIGITS] = '\0';
}

/* -- writing -- */

struct writing {
    FILE *out;
    struct recordjson json;
    struct dump_head *head;
    const struct record *root_keys; /* still to be written; or NULL */
};

/* Takes value; NULL: out of memory. An error of the stream, which is memory, shows at its end. */
static void write_line(FILE *out, json_t *value)
{
    (void)json_dumpf(memory_must(value), out, JSON_COMPACT);
    (void)fputc('\n', out);
    json_decref(value);
}

static void write_one(struct writing *writing, const struct record *record)
{
    assert(record_columns[record->kind].word);
    write_line(writing->out, json_pack("{s:o}", record_columns[record->kind].word,
                                       recordjson_write(&writing->json, record)));
    writing->head->records++;
}

/* Before what comes behind them; record NULL: the end. */
static void write_root_keys(struct writing *writing, const struct record *record)
{
    assert(!writing->root_keys || writing->root_keys->kind == RECORD_ROOT_KEYS);
    if (!writing->root_keys || (record && place_of(record->kind) < ROOT_KEYS))
        return;
    if (!record || record->kind != RECORD_ROOT_KEYS)
        write_one(writing, writing->root_keys);
    writing->root_keys = NULL;
}

static int write_record(void *arg, const struct record *record)
{
    assert(record);
    write_root_keys(arg, record);
    write_one(arg, record);
    return 0;
}

static void write_head(const struct writing *writing)
{
    assert(writing->json.sealing);
    const struct dump_head *head = writing->head;
    struct sealing *sealing = writing->json.sealing;
    char key[KEY_DIGITS + 1];
    key_digits(sealing, key);
    json_t *line =
        memory_must(json_pack("{s:s,s:i,s:i,s:s,s:s,s:s,s:b}", "format", format, "version",
                              DUMP_VERSION, "schema", SCHEMA_VERSION, "key", key, "made",
                              head->made, "mcastd", head->mcastd, "live", head->live));
    (void)json_object_set_new(line, "from", json_string(head->from)); /* not if it is no UTF-8 */
    write_line(writing->out, line);
}

static int load_all(struct store *store, struct writing *writing, struct error *err)
{
    int rc;
    while ((rc = store_load(store, write_record, writing, err)) > 0) {
        struct pollfd more = {.fd = store_fd(store), .events = POLLIN};
        (void)poll(&more, 1, -1);
    }
    return rc;
}

char *dump_write(struct store *store, struct sealing *sealing, struct dump_head *head,
                 const struct record *root_keys, size_t *size, struct error *err)
{
    assert(head);
    assert(size);
    char *text = NULL, digest[DIGEST_DIGITS + 1];
    struct writing writing = {.out = memory_must(open_memstream(&text, size)),
                              .json = {.sealing = sealing},
                              .head = head,
                              .root_keys = root_keys};
    head->records = 0;
    write_head(&writing);
    int rc = load_all(store, &writing, err);
    if (rc == 0)
        write_root_keys(&writing, NULL);
    if (rc == 0 && fflush(writing.out) == 0) {
        digest_text(text, *size, digest);
        write_line(writing.out,
                   json_pack("{s:I,s:s}", "records", (json_int_t)head->records, "sha256", digest));
    }
    if (fclose(writing.out) != 0)
        (void)memory_must(NULL);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}

/* -- reading -- */

struct reading {
    struct recordjson json;
    struct dump_head *head;
    store_each_fn *each;
    void *arg;
    struct error *err;
    size_t line;    /* number of the one that is read */
    size_t records; /* so far */
    size_t kind;    /* of the last one, in order[] */
    int64_t number; /* its first column, if its kind has more than one record */
};

/* what may be the text of reading->err. */
static int damaged(const struct reading *reading, const char *what)
{
    assert(what);
    char copy[ERROR_TEXT_SIZE];
    (void)snprintf(copy, sizeof copy, "%s", what);
    return error_set(reading->err, ERROR_CORRUPT, "%s is damaged (line %zu: %s): export again",
                     reading->json.sealing->ledger, reading->line, copy);
}

/* Which version it is of is looked at before anything else: a newer one may be made otherwise. */
static int check_head(const json_t *line, const struct sealing *sealing, struct error *err)
{
    assert(sealing->ledger);
    const char *is = json_string_value(json_object_get(line, "format")), *key;
    const json_int_t version = json_integer_value(json_object_get(line, "version")),
                     schema = json_integer_value(json_object_get(line, "schema"));
    char ours[KEY_DIGITS + 1];
    if (!is || strcmp(is, format) != 0)
        return error_set(err, ERROR_INVALID, "%s is no exported ledger: mcastd --export makes one",
                         sealing->ledger);
    if (version > DUMP_VERSION || schema > SCHEMA_VERSION)
        return error_set(err, ERROR_VERSION,
                         "%s was written by a newer mcastd (version %lld, schema %lld; this one "
                         "knows %d and %d): install that version",
                         sealing->ledger, (long long)version, (long long)schema, DUMP_VERSION,
                         SCHEMA_VERSION);
    key_digits(sealing, ours);
    key = json_string_value(json_object_get(line, "key"));
    if (key && strcmp(key, ours) != 0)
        return error_set(err, ERROR_REFUSED,
                         "%s is sealed with the key %.16s, and %s is the key %s: put the key file "
                         "of the ledger that was exported in its place",
                         sealing->ledger, key, sealing->key_file, ours);
    return version < 1 || schema < 1 || !key
               ? error_set(err, ERROR_CORRUPT, "%s is damaged (line 1): export again",
                           sealing->ledger)
               : 0;
}

static void copy_text(char *out, size_t size, const json_t *line, const char *name)
{
    assert(size > 0);
    const char *text = json_string_value(json_object_get(line, name));
    (void)snprintf(out, size, "%s", text ? text : "");
}

static int read_head(const char *text, const char *end, const struct reading *reading)
{
    assert(text <= end);
    struct dump_head *head = reading->head;
    json_t *line = plainjson_load(text, (size_t)(end - text));
    int code = check_head(line, reading->json.sealing, reading->err);
    head->live = json_is_true(json_object_get(line, "live"));
    copy_text(head->made, sizeof head->made, line, "made");
    copy_text(head->mcastd, sizeof head->mcastd, line, "mcastd");
    copy_text(head->from, sizeof head->from, line, "from");
    json_decref(line);
    return code;
}

/* The last line, which says that all before it is there and as it was. */
static int read_end(const char *text, const char *last, const char *end,
                    const struct reading *reading)
{
    assert(text <= last);
    assert(last <= end);
    const char *name = reading->json.sealing->ledger;
    char digest[DIGEST_DIGITS + 1];
    json_t *line = *end == '\n' ? plainjson_load(last, (size_t)(end - last)) : NULL;
    const char *said = json_string_value(json_object_get(line, "sha256"));
    digest_text(text, (size_t)(last - text), digest);
    const int code =
        !said ? error_set(reading->err, ERROR_CORRUPT,
                          "%s is cut: its last line, with the SHA-256 of the others, is missing: "
                          "export again, or copy it again",
                          name)
        : strcmp(said, digest) != 0
            ? error_set(reading->err, ERROR_CORRUPT,
                        "%s was changed: its lines are not those that the SHA-256 in its last line "
                        "is of: export again, or copy it again",
                        name)
            : 0;
    reading->head->records = (size_t)json_integer_value(json_object_get(line, "records"));
    json_decref(line);
    return code;
}

/* Records come in the order of store_load; what belongs together otherwise is the receiver's to
 * say. */
static bool in_order(struct reading *reading, size_t kind, const struct record *record)
{
    assert(kind < KINDS);
    const bool single = kind < SINGLES,
               unique = record->kind == RECORD_RESERVATION || record->kind == RECORD_EVENT ||
                        record->kind == RECORD_SHARED_VNI || record->kind == RECORD_TRAFFIC;
    const int64_t before = reading->number;
    const size_t kind_before = reading->kind;
    reading->kind = kind;
    const struct column *key = &record_columns[record->kind].all[0];
    reading->number = single || key->type == COLUMN_TEXT ? 0 : column_number(key, record);
    if (reading->records == 0 || kind != kind_before)
        return reading->records == 0 ? kind == 0 : kind > kind_before;
    return !single && reading->number >= before + unique;
}

static int read_record(struct reading *reading, size_t kind, json_t *value)
{
    assert(kind < KINDS);
    struct record record;
    const int code = recordjson_read(&reading->json, order[kind], value, &record, reading->err);
    if (code == ERROR_CORRUPT)
        return damaged(reading, reading->err->text);
    if (code < 0)
        return error_prefix(reading->err, "%s", reading->json.sealing->ledger);
    if (!in_order(reading, kind, &record))
        return damaged(reading, "not in its place");
    reading->records++;
    return reading->each(reading->arg, &record);
}

static int read_line(struct reading *reading, json_t *line)
{
    void *member = json_object_iter(line);
    const char *word = json_object_iter_key(member);
    if (!word || json_object_size(line) != 1)
        return damaged(reading, "not one record");
    for (size_t kind = 0; kind < KINDS; kind++)
        if (strcmp(word, record_columns[order[kind]].word) == 0)
            return read_record(reading, kind, json_object_iter_value(member));
    return damaged(reading, "a record of no kind");
}

static int read_lines(struct reading *reading, const char *at, const char *end)
{
    int code = 0;
    while (at < end && code == 0) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        assert(newline);
        json_t *line = plainjson_load(at, (size_t)(newline - at));
        reading->line++;
        code = read_line(reading, line);
        json_decref(line);
        at = newline + 1;
    }
    if (code == 0 && (reading->records == 0 || reading->records != reading->head->records))
        code = damaged(reading, "records are missing");
    return code;
}

int dump_read(const char *text, size_t size, struct sealing *sealing, struct dump_head *head,
              store_each_fn *each, void *arg, struct error *err)
{
    assert(each);
    assert(sealing->ledger);
    struct error own = {0}; /* its text goes into others */
    struct reading reading = {.json = {.sealing = sealing},
                              .head = head,
                              .each = each,
                              .arg = arg,
                              .err = err ? err : &own,
                              .line = 1};
    *head = (struct dump_head){0};
    const char *end = text + size, *first = size > 0 ? memchr(text, '\n', size) : NULL;
    /* Behind the newline before the last one. */
    const char *last = size > 0 ? memrchr(text, '\n', size - 1) : NULL;
    int code = read_head(text, first ? first : end, &reading);
    if (code == 0)
        code = read_end(text, last ? last + 1 : text, end - 1, &reading);
    if (code == 0)
        code = read_lines(&reading, first + 1, last + 1);
    recordjson_forget(&reading.json);
    return code;
}
