/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON that the broker writes (broker/http/request/writer.h): the input says what is written, a
 * byte for what and then a line for its text. The same is built with jansson, which must read back
 * just that. */

#include "broker/http/request/writer.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32, MEMBERS_MAX = 16 };

struct pair {
    struct writer writer;
    json_t *open[DEPTH_MAX]; /* from the outermost to what is being filled */
    int depth;
};

static const char *const keys[MEMBERS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                              "i", "j", "k", "l", "m", "n", "o", "p"};

static size_t members(const json_t *container)
{
    return json_is_array(container) ? json_array_size(container) : json_object_size(container);
}

static const char *next_key(const json_t *container)
{
    return json_is_array(container) ? NULL : keys[json_object_size(container)];
}

/* Takes value. */
static void add(json_t *container, const char *key, json_t *value)
{
    FUZZ_CHECK(value);
    FUZZ_CHECK((key ? json_object_set_new(container, key, value)
                    : json_array_append_new(container, value)) == 0);
}

static void begin(struct pair *pair, const char *key, bool array)
{
    json_t *value = array ? json_array() : json_object();
    if (array)
        writer_begin_array(&pair->writer, key);
    else
        writer_begin_object(&pair->writer, key);
    if (pair->depth > 0)
        add(pair->open[pair->depth - 1], key, json_incref(value));
    pair->open[pair->depth++] = value;
}

static void end(struct pair *pair)
{
    json_t *value = pair->open[--pair->depth];
    if (json_is_array(value))
        writer_end_array(&pair->writer);
    else
        writer_end_object(&pair->writer);
    if (pair->depth > 0)
        json_decref(value);
}

/* What is no UTF-8 is replaced, so it only has to be valid; it stands for itself in ours, too. */
static void put_text(struct pair *pair, const char *key, const char *text)
{
    struct writer alone = {0};
    json_t *container = pair->open[pair->depth - 1], *value = json_string(text);
    writer_string(&pair->writer, key, text);
    if (!value) {
        writer_string(&alone, NULL, text);
        value = json_loadb(alone.data, alone.used, JSON_DECODE_ANY, NULL);
        FUZZ_CHECK(value && strstr(json_string_value(value), "\xef\xbf\xbd"));
        writer_release(&alone);
    }
    add(container, key, value);
}

static void put_time(struct pair *pair, const char *key, int64_t ms)
{
    struct writer alone = {0};
    char text[32];
    int year, month, day, hour, minute, second, thousandth;
    writer_time(&alone, NULL, ms);
    writer_time(&pair->writer, key, ms);
    (void)snprintf(text, sizeof text, "%.*s", (int)alone.used, alone.data);
    if (strcmp(text, "null") != 0) {
        FUZZ_CHECK(alone.used == 26 &&
                   sscanf(text, "\"%4d-%2d-%2dT%2d:%2d:%2d.%3dZ\"", &year, &month, &day, &hour,
                          &minute, &second, &thousandth) == 7);
        FUZZ_CHECK(thousandth == ms % 1000 && second == ms / 1000 % 60);
    }
    add(pair->open[pair->depth - 1], key,
        json_loadb(alone.data, alone.used, JSON_DECODE_ANY, NULL));
    writer_release(&alone);
}

static void write_one(struct pair *pair, uint8_t what, const char *text)
{
    json_t *container = pair->open[pair->depth - 1];
    const char *key = next_key(container);
    uint64_t number = strtoull(text, NULL, 36) & INT64_MAX; /* jansson knows no more */
    switch (what % 7) {
    case 0:
        put_text(pair, key, text);
        break;
    case 1:
        writer_number(&pair->writer, key, number);
        add(container, key, json_integer((json_int_t)number));
        break;
    case 2:
        writer_bool(&pair->writer, key, number & 1);
        add(container, key, json_boolean(number & 1));
        break;
    case 3:
        writer_string(&pair->writer, key, NULL);
        add(container, key, json_null());
        break;
    case 4:
        put_time(pair, key, (int64_t)number - 1);
        break;
    default:
        begin(pair, key, what & 8);
        break;
    }
}

void fuzz_one(struct fuzz_input *in)
{
    static struct pair pair; /* the writer's memory is kept between uses, as in the broker */
    begin(&pair, NULL, false);
    while (in->left > 0) {
        uint8_t what = fuzz_byte(in);
        const json_t *container = pair.open[pair.depth - 1];
        bool full = pair.depth == DEPTH_MAX || members(container) == MEMBERS_MAX;
        if (pair.depth > 1 && (full || what > 200)) {
            end(&pair);
        } else if (!full) {
            char *text = fuzz_line(in);
            write_one(&pair, what, text);
            free(text);
        }
    }
    while (pair.depth > 0)
        end(&pair);
    FUZZ_CHECK(!pair.writer.failed);
    json_t *read = json_loadb(pair.writer.data, pair.writer.used, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_CHECK(read && json_equal(read, pair.open[0]));
    json_decref(read);
    json_decref(pair.open[0]);
    writer_wipe(&pair.writer);
}
