/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/change.h"

#include <stdlib.h>
#include <string.h>

#include "mock-fm/objects/objects.h"

static const char *const names[] = {
    [CHANGE_RESET] = "reset",         [CHANGE_MARK] = "mark",           [CHANGE_JOB] = "job",
    [CHANGE_JOB_GONE] = "job-gone",   [CHANGE_STEP_GONE] = "step-gone", [CHANGE_TREE] = "tree",
    [CHANGE_TREE_GONE] = "tree-gone",
};

#define ON(kind) (1U << CHANGE_##kind)
#define TEXT(member) offsetof(struct change, member), 0, 0
#define NUMBER(member, most)                                                                       \
    offsetof(struct change, member), sizeof(((struct change *)NULL)->member), most

/* What a line holds beside "op", "at" and, of a tree, "macs". */
static const struct field {
    const char *name;
    unsigned kinds;
    size_t offset, size; /* size 0: a string */
    json_int_t most;     /* numbers are 0…most */
} fields[] = {
    {"job", ON(JOB) | ON(JOB_GONE) | ON(STEP_GONE) | ON(TREE), TEXT(job)},
    {"step", ON(STEP_GONE) | ON(TREE), TEXT(step)},
    {"token", ON(JOB), TEXT(token)},
    {"limit", ON(JOB), NUMBER(limit, OBJECTS_MCAST_IDS)},
    {"serial", ON(JOB) | ON(MARK), NUMBER(serial, INT64_MAX)},
    {"version", ON(JOB), NUMBER(version, INT64_MAX)},
    {"mcastID", ON(TREE) | ON(TREE_GONE), NUMBER(mcast_id, OBJECTS_MCAST_IDS - 1)},
    {"nextMcastID", ON(MARK), NUMBER(next_mcast_id, OBJECTS_MCAST_IDS - 1)},
    {"root", ON(TREE), NUMBER(root, NIC_ADDRESSES - 1)},
    {"vni", ON(TREE), NUMBER(vni, UINT16_MAX)},
    {"timeout", ON(TREE), NUMBER(timeout_us, INT64_MAX)},
};

static json_t *encode_field(const struct change *change, const struct field *field)
{
    const void *at = (const char *)change + field->offset;
    if (field->size == 0)
        return json_string(*(const char *const *)at);
    if (field->size == sizeof(uint32_t))
        return json_integer(*(const uint32_t *)at);
    return json_integer(*(const int64_t *)at);
}

static json_t *encode_macs(const struct change *change)
{
    json_t *macs = json_array();
    for (size_t i = 0; macs && i < change->mac_count; i++)
        json_array_append_new(macs, json_integer(change->macs[i]));
    return macs;
}

char *change_encode(const struct change *change)
{
    json_t *line = json_pack("{s:s, s:I}", "op", names[change->kind], "at", change->at_us);
    char *text = NULL, *terminated = NULL;
    int result = line ? 0 : -1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && result == 0; i++)
        if (fields[i].kinds & 1U << change->kind)
            result = json_object_set_new(line, fields[i].name, encode_field(change, &fields[i]));
    if (result == 0 && change->kind == CHANGE_TREE)
        result = json_object_set_new(line, "macs", encode_macs(change));
    if (result == 0 && (text = json_dumps(line, JSON_COMPACT)) &&
        (terminated = realloc(text, strlen(text) + 2)))
        strcat(terminated, "\n");
    json_decref(line);
    return terminated;
}

static int decode_kind(const char *name, enum change_kind *kind)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *kind = (enum change_kind)i;
            return 0;
        }
    return -1;
}

static int decode_macs(const json_t *list, struct change_read *read)
{
    size_t count = json_array_size(list);
    if (count == 0 || !(read->macs = calloc(count, sizeof *read->macs)))
        return -1;
    for (size_t i = 0; i < count; i++) {
        json_int_t value = json_integer_value(json_array_get(list, i));
        if (value < 0 || value >= NIC_ADDRESSES)
            return -1;
        read->macs[i] = (uint32_t)value;
    }
    read->change.macs = read->macs;
    read->change.mac_count = count;
    return 0;
}

static int decode_field(const json_t *line, const struct field *field, struct change *change)
{
    const json_t *value = json_object_get(line, field->name);
    json_int_t number = json_integer_value(value);
    void *at = (char *)change + field->offset;
    if (field->size == 0)
        return (*(const char **)at = json_string_value(value)) ? 0 : -1;
    if (field->size == sizeof(uint32_t))
        *(uint32_t *)at = (uint32_t)number;
    else
        *(int64_t *)at = number;
    return json_is_integer(value) && number >= 0 && number <= field->most ? 0 : -1;
}

static int decode_fields(struct change_read *read)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].kinds & 1U << read->change.kind &&
            decode_field(read->line, &fields[i], &read->change) < 0)
            return -1;
    read->change.at_us = json_integer_value(json_object_get(read->line, "at"));
    return read->change.kind == CHANGE_TREE ? decode_macs(json_object_get(read->line, "macs"), read)
                                            : 0;
}

int change_decode(const char *line, size_t length, struct change_read *read)
{
    *read = (struct change_read){.line = json_loadb(line, length, 0, NULL)};
    const char *name = json_string_value(json_object_get(read->line, "op"));
    if (name && decode_kind(name, &read->change.kind) == 0 && decode_fields(read) == 0)
        return 0;
    change_release(read);
    return -1;
}

void change_release(struct change_read *read)
{
    json_decref(read->line);
    free(read->macs);
}
