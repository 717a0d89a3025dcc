/* SPDX-License-Identifier: Apache-2.0 */
/* An exported ledger (state/dump.h) that is to be imported. First byte: odd, the rest is the file;
 * else its lines between a right header and a right end.
 *
 * Each record that is taken is possible, written and read again it is the same, and the core and a
 * batch take it or say what is wrong; what is refused has a sentence. */

#include "base/hex.h"
#include "core/core.h"
#include "state/dump.h"
#include "state/recordjson.h"
#include "state/sqlite/schema.h"
#include "tests/coreconfig.h"
#include "tests/fuzz/fuzz.h"
#include "tokens/seal_key.h"

#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

struct receiver {
    struct core *core;
    struct batch *batch;
    struct error err;
};

static struct sealing sealing, again;

static void open_sealing(struct sealing *sealed)
{
    const struct seal_key key = {.bytes = "0123456789abcdef0123456789abcde"};
    if (sealing_init(sealed, "the dump", "state.key", &key, NULL) < 0)
        abort();
}

/* Without the secrets, which are sealed anew each time. */
static char *text_of(const struct recordjson *json, struct record record)
{
    if (record.kind == RECORD_RESERVATION)
        record.u.reservation.token = record.u.reservation.key = (struct secret){0};
    if (record.kind == RECORD_ROOT_KEYS)
        return strdup(secret_expose(record.u.root_keys));
    json_t *object = recordjson_write(json, &record);
    char *text = json_dumps(object, JSON_COMPACT);
    FUZZ_CHECK(text);
    json_decref(object);
    return text;
}

static void check_record(const struct record *record)
{
    struct recordjson json = {.sealing = &again};
    struct record back;
    FUZZ_CHECK(!record_fault(record));
    json_t *object = recordjson_write(&json, record);
    FUZZ_CHECK(recordjson_read(&json, record->kind, object, &back, NULL) == 0);
    char *one = text_of(&json, *record), *other = text_of(&json, back);
    FUZZ_CHECK(strcmp(one, other) == 0);
    FUZZ_CHECK(record->kind != RECORD_RESERVATION || secret_none(record->u.reservation.token) ||
               secret_equal(record->u.reservation.token, back.u.reservation.token));
    free(one);
    free(other);
    json_decref(object);
    recordjson_forget(&json);
}

static int take_record(void *arg, const struct record *record)
{
    struct receiver *receiver = arg;
    if (!receiver->core) { /* a large thing, of which most inputs have no need */
        struct core_config config;
        coreconfig_init(&config);
        receiver->core = core_create(&config);
    }
    check_record(record);
    if (record->kind != RECORD_COUNTERS)
        batch_add(receiver->batch, record);
    return core_load(receiver->core, record, &receiver->err);
}

static void read_dump(const char *text, size_t size)
{
    struct receiver receiver = {.batch = batch_create()};
    struct error err = {0};
    struct dump_head head;
    int rc = dump_read(text, size, &sealing, &head, take_record, &receiver, &err);
    FUZZ_CHECK(rc <= 0 && (rc == 0 || err.text[0] != '\0' || receiver.err.text[0] != '\0'));
    if (rc == 0)
        (void)core_check_load(receiver.core, NULL);
    batch_destroy(receiver.batch);
    core_destroy(receiver.core);
}

/* As dump_write does. */
static void read_lines(const char *lines, size_t length, size_t count)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char digits[2 * sizeof digest], key[2 * SEAL_KEY_ID_SIZE], *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    hex_write(seal_key_id(sealing.seal), SEAL_KEY_ID_SIZE, key);
    fprintf(out, "{\"format\":\"mcastd ledger\",\"version\":1,\"schema\":%d,\"key\":\"%.*s\"}\n",
            SCHEMA_VERSION, (int)sizeof key, key);
    fwrite(lines, 1, length, out);
    fflush(out);
    (void)SHA256((const unsigned char *)text, size, digest);
    hex_write(digest, sizeof digest, digits);
    fprintf(out, "{\"records\":%zu,\"sha256\":\"%.*s\"}\n", count, (int)sizeof digits, digits);
    fclose(out);
    read_dump(text, size);
    free(text);
}

void fuzz_one(struct fuzz_input *in)
{
    const uint8_t how = fuzz_byte(in);
    size_t length, count = 0;
    char *bytes = fuzz_bytes(in, &length);
    if (!sealing.seal) {
        open_sealing(&sealing);
        open_sealing(&again);
    }
    for (size_t i = 0; i < length; i++)
        count += bytes[i] == '\n';
    if (how & 1)
        read_dump(bytes, length);
    else if (length == 0 || bytes[length - 1] == '\n')
        read_lines(bytes, length, count);
    free(bytes);
}
