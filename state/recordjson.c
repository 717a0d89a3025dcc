/* SPDX-License-Identifier: Apache-2.0 */
#include "state/recordjson.h"

#include "base/memory.h"
#include "state/base64.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* -- writing -- */

/* The number of what a secret is bound to. */
static uint64_t sealed_with(const struct record *record)
{
    assert(record->kind == RECORD_RESERVATION || record->kind == RECORD_ROOT_KEYS);
    return record->kind == RECORD_RESERVATION ? record->u.reservation.number : 1;
}

static json_t *secret_json(struct sealing *sealing, const struct column *column,
                           const struct record *record)
{
    assert(column->type == COLUMN_TOKEN);
    const int size = sealing_wrap(sealing, column->sealed, sealed_with(record),
                                  secret_of(column_text(column, record)));
    return size < 0 ? NULL : base64_json(sealing->sealed[column->sealed], (size_t)size);
}

/* jansson makes no string of what is not UTF-8. */
static json_t *text_json(const char *text)
{
    assert(text);
    json_t *string = json_string(text);
    return string ? string : json_pack("{s:o}", "base64", base64_json(text, strlen(text)));
}

json_t *recordjson_write(const struct recordjson *json, const struct record *record)
{
    const struct columns *columns = &record_columns[record->kind];
    json_t *object = json_object();
    assert(columns->word && !record_fault(record));
    int rc = object ? 0 : -1;
    for (size_t i = 0; i < columns->count && rc == 0; i++) {
        const struct column *column = &columns->all[i];
        const bool number = column->type == COLUMN_NUMBER;
        if (number ? column_number(column, record) == 0 : !column_text(column, record))
            continue;
        rc = json_object_set_new_nocheck(object, column->name,
                                         number ? json_integer(column_number(column, record))
                                         : column->type == COLUMN_TOKEN
                                             ? secret_json(json->sealing, column, record)
                                             : text_json(column_text(column, record)));
    }
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* -- reading -- */

/* "reservation 7: ", or "facts: ". */
static int refuse(struct error *err, int code, const struct record *record, const char *fault)
{
    assert(code < 0);
    assert(fault);
    const struct columns *columns = &record_columns[record->kind];
    (void)error_set(err, code, "%s", fault);
    if (columns->count > 0 && columns->all[0].min == 1)
        return error_prefix(err, "%s %lld", columns->word,
                            (long long)column_number(&columns->all[0], record));
    return error_prefix(err, "%s", columns->word);
}

/* A string that has a NUL is none of ours; NULL. */
static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) == json_string_length(value) ? text : NULL;
}

/* One that is not UTF-8 is kept as a string that jansson has not looked at. */
static const char *other_text(struct recordjson *json, const json_t *value)
{
    assert(json->kept);
    size_t size;
    char *bytes =
        json_object_size(value) == 1 ? base64_bytes(json_object_get(value, "base64"), &size) : NULL;
    json_t *string = bytes ? json_stringn_nocheck(bytes, size) : NULL;
    free(bytes);
    return json_array_append_new(json->kept, string) == 0 ? text_of(string) : NULL;
}

static bool read_number(const struct column *column, const json_t *value, struct record *record)
{
    assert(column->type == COLUMN_NUMBER);
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < column->min || number > column->max)
        return false;
    column_set_number(column, record, number);
    return true;
}

static bool read_text(struct recordjson *json, const struct column *column, const json_t *value,
                      struct record *record)
{
    assert(column->type == COLUMN_TEXT);
    const char *text = json_is_object(value) ? other_text(json, value) : text_of(value);
    column_set_text(column, record, text);
    return text && column_possible(column, record);
}

static int read_secret(struct recordjson *json, const struct column *column, const json_t *value,
                       struct record *record, struct error *err)
{
    assert(column->type == COLUMN_TOKEN);
    struct secret secret;
    size_t size = 0;
    char *sealed = base64_bytes(value, &size);
    const int code = sealing_unwrap(json->sealing, column->sealed, sealed_with(record),
                                    (unsigned char *)sealed, size, &secret, err);
    free(sealed);
    column_set_text(column, record, secret_expose(secret));
    return code == 0 && !column_possible(column, record)
               ? refuse(err, ERROR_CORRUPT, record, column->fault)
               : code;
}

/* value NULL: not there, so it is 0 or no text. */
static int read_column(struct recordjson *json, const struct column *column, const json_t *value,
                       struct record *record, struct error *err)
{
    bool possible = true;
    assert(column->name);
    if (!value)
        possible = column_possible(column, record);
    else if (column->type == COLUMN_TOKEN)
        return read_secret(json, column, value, record, err);
    else if (column->type == COLUMN_NUMBER)
        possible = read_number(column, value, record);
    else
        possible = read_text(json, column, value, record);
    return possible ? 0 : refuse(err, ERROR_CORRUPT, record, column->fault);
}

/* There is one. */
static int refuse_unknown(json_t *object, const struct record *record, struct error *err)
{
    assert(json_object_size(object) > 0);
    const struct columns *columns = &record_columns[record->kind];
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        size_t at = 0;
        while (at < columns->count && strcmp(columns->all[at].name, name) != 0)
            at++;
        if (at == columns->count)
            break;
    }
    char fault[ERROR_TEXT_SIZE / 2];
    snprintf(fault, sizeof fault,
             "has \"%.32s\", which this mcastd does not know: it was written by a newer mcastd, "
             "install that version",
             name);
    return refuse(err, ERROR_VERSION, record, fault);
}

int recordjson_read(struct recordjson *json, enum record_kind kind, json_t *object,
                    struct record *record, struct error *err)
{
    const struct columns *columns = &record_columns[kind];
    size_t known = 0;
    int code = 0;
    assert(columns->word);
    recordjson_forget(json);
    *record = (struct record){.kind = kind};
    json->kept = memory_must(json_array());
    json_array_append(json->kept, object);
    if (!json_is_object(object))
        return refuse(err, ERROR_CORRUPT, record, "not a JSON object");
    for (size_t i = 0; i < columns->count && code == 0; i++) {
        const json_t *value = json_object_get(object, columns->all[i].name);
        known += value != NULL;
        code = read_column(json, &columns->all[i], value, record, err);
    }
    if (code < 0)
        return code;
    if (known < json_object_size(object))
        return refuse_unknown(object, record, err);
    const char *fault = record_misfit(record);
    return fault ? refuse(err, ERROR_CORRUPT, record, fault) : 0;
}

void recordjson_forget(struct recordjson *json)
{
    assert(json->sealing);
    sealing_forget(json->sealing);
    json_decref(json->kept);
    json->kept = NULL;
}
