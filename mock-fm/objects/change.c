#include "mock-fm/objects/change.h"

#include <stdlib.h>
#include <string.h>

#include "mock-fm/objects/nic.h"
#include "mock-fm/objects/objects.h"

static const char *const names[] = {
    [CHANGE_RESET] = "reset",         [CHANGE_MARK] = "mark",           [CHANGE_JOB] = "job",
    [CHANGE_JOB_GONE] = "job-gone",   [CHANGE_STEP_GONE] = "step-gone", [CHANGE_TREE] = "tree",
    [CHANGE_TREE_GONE] = "tree-gone",
};

static json_t *encode_macs(const struct change *change)
{
    json_t *macs = json_array();

    for (size_t i = 0; macs && i < change->mac_count; i++)
        json_array_append_new(macs, json_integer(change->macs[i]));
    return macs;
}

static json_t *encode_fields(const struct change *change)
{
    switch (change->kind) {
    case CHANGE_MARK:
        return json_pack("{s:I, s:i}", "serial", (json_int_t)change->serial, "nextMcastID",
                         (int)change->next_mcast_id);
    case CHANGE_RESET:
        return json_object();
    case CHANGE_JOB:
        return json_pack("{s:s, s:s, s:i, s:I, s:I}", "job", change->job, "token", change->token,
                         "limit", (int)change->limit, "serial", (json_int_t)change->serial,
                         "version", (json_int_t)change->version);
    case CHANGE_JOB_GONE:
        return json_pack("{s:s}", "job", change->job);
    case CHANGE_STEP_GONE:
        return json_pack("{s:s, s:s}", "job", change->job, "step", change->step);
    case CHANGE_TREE:
        return json_pack("{s:i, s:s, s:s, s:i, s:i, s:I, s:o}", "mcastID", (int)change->mcast_id,
                         "job", change->job, "step", change->step, "root", (int)change->root, "vni",
                         (int)change->vni, "timeout", (json_int_t)change->timeout_us, "macs",
                         encode_macs(change));
    case CHANGE_TREE_GONE:
        return json_pack("{s:i}", "mcastID", (int)change->mcast_id);
    }
    return NULL;
}

char *change_encode(const struct change *change)
{
    json_t *line = encode_fields(change);
    char *text = NULL;
    size_t length;

    if (!line || json_object_set_new(line, "op", json_string(names[change->kind])) < 0 ||
        json_object_set_new(line, "at", json_integer(change->at_us)) < 0)
        goto done;
    length = json_dumpb(line, NULL, 0, JSON_COMPACT);
    if (length == 0 || !(text = malloc(length + 2)))
        goto done;
    json_dumpb(line, text, length, JSON_COMPACT);
    text[length] = '\n';
    text[length + 1] = '\0';
done:
    json_decref(line);
    return text;
}

static int decode_kind(const char *name, enum change_kind *kind)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            *kind = (enum change_kind)i;
            return 0;
        }
    }
    return -1;
}

static int decode_macs(const json_t *list, struct change_read *read)
{
    size_t count = json_array_size(list);

    if (!json_is_array(list) || count == 0 || !(read->macs = calloc(count, sizeof read->macs[0])))
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

/* A number of the line that must be there and lie in 0…most. */
static int decode_number(const json_t *line, const char *name, json_int_t most, json_int_t *number)
{
    const json_t *value = json_object_get(line, name);

    *number = json_integer_value(value);
    return json_is_integer(value) && *number >= 0 && *number <= most ? 0 : -1;
}

static int decode_job(const json_t *line, struct change *change)
{
    json_int_t limit, serial, version;

    change->token = json_string_value(json_object_get(line, "token"));
    if (!change->job || !change->token ||
        decode_number(line, "limit", OBJECTS_MCAST_IDS, &limit) < 0 ||
        decode_number(line, "serial", INT64_MAX, &serial) < 0 ||
        decode_number(line, "version", INT64_MAX, &version) < 0)
        return -1;
    change->limit = (unsigned)limit;
    change->serial = (uint64_t)serial;
    change->version = (uint64_t)version;
    return 0;
}

static int decode_tree(const json_t *line, struct change_read *read)
{
    struct change *change = &read->change;
    json_int_t id, root, vni, timeout;

    if (!change->job || !change->step ||
        decode_number(line, "mcastID", OBJECTS_MCAST_IDS - 1, &id) < 0 ||
        decode_number(line, "root", NIC_ADDRESSES - 1, &root) < 0 ||
        decode_number(line, "vni", UINT16_MAX, &vni) < 0 ||
        decode_number(line, "timeout", INT64_MAX, &timeout) < 0)
        return -1;
    change->mcast_id = (unsigned)id;
    change->root = (uint32_t)root;
    change->vni = (unsigned)vni;
    change->timeout_us = timeout;
    return decode_macs(json_object_get(line, "macs"), read);
}

static int decode_fields(const json_t *line, struct change_read *read)
{
    struct change *change = &read->change;
    json_int_t first, second;

    change->job = json_string_value(json_object_get(line, "job"));
    change->step = json_string_value(json_object_get(line, "step"));
    change->at_us = json_integer_value(json_object_get(line, "at"));
    switch (change->kind) {
    case CHANGE_MARK:
        if (decode_number(line, "serial", INT64_MAX, &first) < 0 ||
            decode_number(line, "nextMcastID", OBJECTS_MCAST_IDS - 1, &second) < 0)
            return -1;
        change->serial = (uint64_t)first;
        change->next_mcast_id = (unsigned)second;
        return 0;
    case CHANGE_RESET:
        return 0;
    case CHANGE_JOB:
        return decode_job(line, change);
    case CHANGE_JOB_GONE:
        return change->job ? 0 : -1;
    case CHANGE_STEP_GONE:
        return change->job && change->step ? 0 : -1;
    case CHANGE_TREE:
        return decode_tree(line, read);
    case CHANGE_TREE_GONE:
        if (decode_number(line, "mcastID", OBJECTS_MCAST_IDS - 1, &first) < 0)
            return -1;
        change->mcast_id = (unsigned)first;
        return 0;
    }
    return -1;
}

int change_decode(const char *line, size_t length, struct change_read *read)
{
    const char *name;

    memset(read, 0, sizeof *read);
    read->line = json_loadb(line, length, 0, NULL);
    name = json_string_value(json_object_get(read->line, "op"));
    if (name && decode_kind(name, &read->change.kind) == 0 && decode_fields(read->line, read) == 0)
        return 0;
    change_release(read);
    return -1;
}

void change_release(struct change_read *read)
{
    json_decref(read->line);
    free(read->macs);
}
