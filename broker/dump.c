/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/dump.h"

#include "base/memory.h"
#include "broker/ledger.h"
#include "core/core.h"
#include "state/dump.h"
#include "tokens/guardedfile.h"
#include "tokens/rootkeys.h"
#include "trust/keyfile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* What docs/state.md, "Backups", adds to the numbers of a ledger that is not the latest. */
enum { NUMBERS_LOST = 1000000 };

/* ---- what both need ---- */

static int open_sealing(struct sealing *sealing, const struct config *config, const char *name,
                        struct error *err)
{
    struct seal_key key;
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* as the broker: memory will hold secrets */
    if (config->store == CONFIG_STORE_MEMORY)
        return error_set(err, ERROR_INVALID, "[state] store = memory keeps no ledger");
    int code = seal_key_read(config->state_key_file, &key, err);
    if (code == 0)
        code = sealing_init(sealing, name, config->state_key_file, &key, err);
    seal_key_wipe(&key);
    return code;
}

/* The root keys that have a file. None when there is no such file. To be wiped. */
static int read_root_keys(const struct config *config, struct rootkeys *keys, struct error *err)
{
    const char *path = config->root_key_file;
    const int code = path[0] == '\0' ? ERROR_NOT_FOUND : rootkeys_read(path, keys, err);
    if (code != ERROR_NOT_FOUND)
        return code;
    *err = (struct error){0};
    *keys = (struct rootkeys){0};
    return 0;
}

/* ---- export ---- */

static int write_out(const char *file, const char *text, size_t size, struct error *err)
{
    static const struct guardedfile_kind kind = {
        .what = "file",
        .precious = "it may be the copy that is needed",
        .advice = "name one in a folder that the user of mcastd may write to, or use --export -"};
    if (strcmp(file, "-") != 0)
        return guardedfile_create(file, &kind, text, size, (uid_t)-1, (gid_t)-1, err);
    return fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0
               ? 0
               : error_set(err, ERROR_IO, "cannot write to standard output: %s", strerror(errno));
}

static int export_ledger(struct ledger *ledger, struct sealing *sealing, struct dump_head *head,
                         const char *file, struct error *err)
{
    struct tm now;
    const time_t seconds = time(NULL);
    size_t size;
    (void)strftime(head->made, sizeof head->made, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &now));
    (void)snprintf(head->mcastd, sizeof head->mcastd, "%s", MCAST_VERSION);
    (void)snprintf(head->from, sizeof head->from, "%s", ledger->name);
    /* While the ledger cannot change, if no broker runs. */
    struct rootkeys keys;
    char lines[ROOTKEYS_TEXT_SIZE] = "";
    int code = read_root_keys(ledger->config, &keys, err);
    if (code == 0 && keys.count > 0)
        (void)rootkeys_format(&keys, lines);
    rootkeys_wipe(&keys);
    if (code < 0)
        return code;
    const struct record record = {.kind = RECORD_ROOT_KEYS, .u.root_keys = secret_of(lines)};
    char *text =
        dump_write(ledger->store, sealing, head, lines[0] == '\0' ? NULL : &record, &size, err);
    explicit_bzero(lines, sizeof lines);
    code = text ? write_out(file, text, size, err) : err->code;
    free(text);
    return code;
}

int dump_export(const struct config *config, const char *file, struct error *err)
{
    struct sealing sealing = {0};
    struct dump_head head = {0};
    struct ledger ledger;
    int code = open_sealing(&sealing, config, config->state_path, err);
    if (code == 0) {
        code = ledger_open_copy(&ledger, config, &head.live, err);
        if (code == 0)
            code = export_ledger(&ledger, &sealing, &head, file, err);
        ledger_close(&ledger);
    }
    if (code == 0)
        (void)fprintf(stderr, "mcastd: exported %zu records of %s%s\n", head.records, head.from,
                      head.live ? "; a broker runs with it and goes on, so this is a backup" : "");
    sealing_release(&sealing);
    return code;
}

/* ---- import: what the file holds ---- */

/* Of records in any order: how many, and the sum of what each of them hashes to. */
struct fingerprint {
    uint64_t records, sums[SHA256_DIGEST_LENGTH / sizeof(uint64_t)];
};

static void add_to_fingerprint(struct fingerprint *fingerprint, const struct record *record)
{
    const struct columns *columns = &record_columns[record->kind];
    uint64_t sums[SHA256_DIGEST_LENGTH / sizeof(uint64_t)];
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = memory_must(open_memstream(&bytes, &size));
    fprintf(out, "%d", (int)record->kind);
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->all[i];
        if (column->type == COLUMN_NUMBER)
            fprintf(out, " %" PRId64, column_number(column, record));
        else if (column_text(column, record))
            fprintf(out, " \"%s%c", column_text(column, record), '\0');
        else
            fputs(" -", out);
    }
    if (fclose(out) != 0)
        (void)memory_must(NULL);
    (void)SHA256((const unsigned char *)bytes, size, (unsigned char *)sums);
    memory_wipe(bytes, size);
    fingerprint->records++;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        fingerprint->sums[i] += sums[i];
}

struct import {
    const char *name; /* of the file, for messages */
    struct dump_head head;
    struct core *core; /* what a broker would load */
    struct batch *batch;
    struct record counters;
    bool keys_apart;                /* the root keys have a file */
    struct rootkeys keys;           /* or none */
    uint64_t last_number, last_seq; /* of the records */
    struct fingerprint expected, found;
    struct error *err;
};

static int take_root_keys(struct import *import, const struct record *record)
{
    const char *text = secret_expose(record->u.root_keys);
    if (rootkeys_parse(text, strlen(text), &import->keys) > 0)
        return error_set(import->err, ERROR_CORRUPT, "%s: the root keys are no root keys",
                         import->name);
    if (import->keys_apart)
        return 0;
    batch_add(import->batch, record);
    add_to_fingerprint(&import->expected, record);
    return 0;
}

/* A ledger that has gone on since is to be treated as a backup that is put back (docs/state.md):
 * what it does not know may be there. */
static int take_record(void *arg, const struct record *given)
{
    struct import *import = arg;
    struct record record = *given;
    if (record.kind == RECORD_FOUNDED && import->head.live)
        return 0;
    if (record.kind == RECORD_ROOT_KEYS)
        return take_root_keys(import, &record);
    if (record.kind == RECORD_COUNTERS) {
        if (import->head.live && record.u.counters.last_number > 0)
            record.u.counters.last_number += NUMBERS_LOST;
        import->counters = record;
    } else {
        batch_add(import->batch, &record);
    }
    if (record.kind == RECORD_RESERVATION)
        import->last_number = record.u.reservation.number;
    if (record.kind == RECORD_EVENT)
        import->last_seq = record.u.event.seq;
    add_to_fingerprint(&import->expected, &record);
    const int code = core_load(import->core, &record, import->err);
    return code < 0 ? error_prefix(import->err, "%s", import->name) : 0;
}

/* Counters follow from what is kept and deleted. Nothing is deleted here: it is not there. */
static int add_counters(struct import *import)
{
    const uint64_t number = import->counters.u.counters.last_number,
                   seq = import->counters.u.counters.last_seq;
    const struct record gone = {.kind = RECORD_GONE, .u.gone = number},
                        prune = {.kind = RECORD_PRUNE, .u.prune = seq};
    if (import->last_number > number || import->last_seq > seq ||
        (import->last_seq > 0 && import->last_seq < seq))
        return error_set(import->err, ERROR_CORRUPT,
                         "%s is damaged (its counters do not fit its records): export again",
                         import->name);
    if (import->last_number < number)
        batch_add(import->batch, &gone);
    if (import->last_seq < seq)
        batch_add(import->batch, &prune);
    return 0;
}

/* All of it in memory, and checked as a broker would check it at its start. */
static int take_all(struct import *import, const struct config *config, const char *text,
                    size_t size)
{
    struct sealing sealing = {0};
    int code = open_sealing(&sealing, config, import->name, import->err);
    if (code == 0)
        code = dump_read(text, size, &sealing, &import->head, take_record, import, import->err);
    if (code == 0)
        code = add_counters(import);
    if (code == 0 && (code = core_check_load(import->core, import->err)) < 0)
        code = error_prefix(import->err, "%s", import->name);
    sealing_release(&sealing);
    return code;
}

/* Its owner alone could change what will be believed. */
static FILE *open_input(const char *file, struct error *err)
{
    static const struct keyfile kind = {.holds = "an exported ledger", .guard = KEYFILE_SECRET};
    if (strcmp(file, "-") == 0)
        return stdin;
    int fd = keyfile_open(file, &kind, err);
    return fd < 0 ? NULL : memory_must(fdopen(fd, "r"));
}

static int read_input(const char *file, char **text, size_t *size, struct error *err)
{
    enum { STEP = 1 << 16 };
    char buffer[STEP];
    size_t length;
    FILE *in = open_input(file, err), *out;
    if (!in)
        return err->code;
    out = memory_must(open_memstream(text, size));
    while ((length = fread(buffer, 1, sizeof buffer, in)) > 0)
        (void)fwrite(buffer, 1, length, out);
    int code =
        ferror(in) ? error_set(err, ERROR_IO, "cannot read %s: %s", file, strerror(errno)) : 0;
    if (fclose(out) != 0)
        (void)memory_must(NULL);
    if (in != stdin)
        (void)fclose(in);
    return code;
}

/* ---- import: into the ledger ---- */

static int find_record(void *arg, const struct record *record)
{
    add_to_fingerprint(arg, record);
    return 0;
}

static bool same(const struct fingerprint *a, const struct fingerprint *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* A ledger that is new has its counters, which are 0, and nothing else. */
static bool is_empty(const struct fingerprint *found)
{
    const struct record none = {.kind = RECORD_COUNTERS};
    struct fingerprint empty = {0};
    add_to_fingerprint(&empty, &none);
    return same(found, &empty);
}

/* Tokens of the ledger before would fit jobs that have other numbers here. */
static int check_root_keys(const struct config *config, const struct rootkeys *keys, bool *there,
                           struct error *err)
{
    struct rootkeys found;
    int code = read_root_keys(config, &found, err);
    *there = code == 0 && found.count > 0;
    if (*there && (found.count != keys->count ||
                   memcmp(found.keys, keys->keys, found.count * sizeof *found.keys) != 0))
        code = error_set(err, ERROR_REFUSED,
                         "%s holds other root keys than the exported ledger's: it is of another "
                         "ledger, move it away",
                         config->root_key_file);
    rootkeys_wipe(&found);
    return code;
}

static int fill_ledger(struct import *import, struct ledger *ledger, bool save_keys)
{
    int code = ledger_load(ledger, find_record, &import->found, import->err);
    if (code == 0 && !is_empty(&import->found))
        code = error_set(import->err, ERROR_REFUSED,
                         "%s is not empty: import into a new ledger; %s", ledger->name,
                         ledger->etcd ? "set another [state] prefix, or delete what is below it"
                                      : "move this one away, with its -wal and -shm, or set "
                                        "another [state] path");
    if (code == 0 && save_keys) /* first: a broker that finds the ledger empty replaces the keys */
        code = rootkeys_save(ledger->config->root_key_file, &import->keys, (uid_t)-1, (gid_t)-1,
                             import->err);
    if (code < 0 || batch_size(import->batch) == 0)
        return code;
    if (ledger->etcd && store_etcd_doubt(ledger->store))
        store_etcd_accept(ledger->store, false);
    struct batch *batch = import->batch;
    import->batch = NULL;
    return ledger_commit(ledger, batch, import->err);
}

static int verify(struct import *import, struct ledger *ledger)
{
    import->found = (struct fingerprint){0};
    int code = ledger_reopen(ledger, import->err);
    if (code == 0)
        code = ledger_load(ledger, find_record, &import->found, import->err);
    if (code == 0 && !same(&import->expected, &import->found))
        code = error_set(import->err, ERROR_CORRUPT,
                         "%s does not hold what was imported: look for errors of its disk, and "
                         "import into another one",
                         ledger->name);
    return code;
}

static int import_all(struct import *import, const struct config *config, const char *file)
{
    struct ledger ledger;
    char *text = NULL;
    size_t size = 0;
    bool there = false; /* the root keys */
    int code = read_input(file, &text, &size, import->err);
    if (code == 0)
        code = take_all(import, config, text, size);
    free(text);
    if (code == 0)
        code = check_root_keys(config, &import->keys, &there, import->err);
    if (code < 0)
        return code;
    code = ledger_open(&ledger, config, import->err);
    if (code == 0)
        code = fill_ledger(import, &ledger, import->keys_apart && !there && import->keys.count > 0);
    if (code == 0)
        code = verify(import, &ledger);
    ledger_close(&ledger);
    return code;
}

int dump_import(const struct config *config, const char *file, struct error *err)
{
    struct import import = {.name = strcmp(file, "-") == 0 ? "standard input" : file,
                            .core = core_create(&config->core),
                            .batch = batch_create(),
                            .keys_apart = config->root_key_file[0] != '\0',
                            .err = err};
    int code = import_all(&import, config, file);
    if (code == 0)
        (void)fprintf(stderr, "mcastd: imported %zu records of %s, exported at %s%s\n",
                      import.head.records, import.head.from, import.head.made,
                      import.head.live
                          ? "; that ledger went on: go on as after restoring a backup, "
                            "share/doc/mcastd/state.md"
                          : "");
    rootkeys_wipe(&import.keys);
    batch_destroy(import.batch);
    core_destroy(import.core);
    return code;
}

/* ---- a ledger that is not the one that was seen ---- */

static int find_last_number(void *arg, const struct record *record)
{
    if (record->kind == RECORD_COUNTERS)
        *(uint64_t *)arg = record->u.counters.last_number;
    return 0;
}

static int accept_doubted(struct ledger *ledger, struct error *err)
{
    uint64_t last_number = 0;
    int code = ledger_load(ledger, find_last_number, &last_number, err);
    const struct error *doubt = code == 0 ? store_etcd_doubt(ledger->store) : NULL;
    if (code == 0 && !doubt)
        code = error_set(err, ERROR_INVALID,
                         "nothing was changed: by what this host has seen, %s is the right one",
                         ledger->name);
    if (code < 0)
        return code;
    const bool old = doubt->code == ERROR_REFUSED;
    /* As after a backup that was put back: what it lacks may be there. Else a change of nothing. */
    const struct record gone = {.kind = RECORD_GONE, .u.gone = last_number + NUMBERS_LOST},
                        none = {.kind = RECORD_PRUNE};
    struct batch *batch = batch_create();
    batch_add(batch, old ? &gone : &none);
    (void)fprintf(stderr, "mcastd: accepted; until now brokers said: %s\n", doubt->text);
    store_etcd_accept(ledger->store, old);
    return ledger_commit(ledger, batch, err);
}

int dump_accept(const struct config *config, const char *file, struct error *err)
{
    struct ledger ledger;
    (void)file;
    if (config->store != CONFIG_STORE_ETCD)
        return error_set(err, ERROR_INVALID, "[state] store is not etcd: see Backups in state.md");
    int code = ledger_open(&ledger, config, err);
    if (code == 0)
        code = accept_doubted(&ledger, err);
    ledger_close(&ledger);
    return code;
}
