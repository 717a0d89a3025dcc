/* SPDX-License-Identifier: Apache-2.0 */
#include "state/packed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STRINGS_MAX = 5 };

/* Where a record of each kind has its strings; ends at the first 0, which no string has. */
static const size_t string_offsets[][STRINGS_MAX + 1] = {
    [RECORD_RESERVATION] = {offsetof(struct record, u.reservation.cluster),
                            offsetof(struct record, u.reservation.job),
                            offsetof(struct record, u.reservation.nodes),
                            offsetof(struct record, u.reservation.token),
                            offsetof(struct record, u.reservation.reason)},
    [RECORD_EVENT] = {offsetof(struct record, u.event.cluster),
                      offsetof(struct record, u.event.job),
                      offsetof(struct record, u.event.detail)},
    [RECORD_NODE] = {offsetof(struct record, u.node.node),
                     offsetof(struct record, u.node.services)},
    [RECORD_CLEANUP] = {offsetof(struct record, u.cleanup.step)},
    [RECORD_CLEANED] = {offsetof(struct record, u.cleanup.step)},
    [RECORD_FACTS] = {offsetof(struct record, u.facts.boot)},
};

static const char *string_at(const struct record *record, size_t offset)
{
    const char *string;
    assert(offset <= sizeof *record - sizeof string);
    memcpy(&string, (const char *)record + offset, sizeof string);
    return string;
}

size_t packed_size(const struct record *record)
{
    assert(record->kind < sizeof string_offsets / sizeof *string_offsets);
    size_t size = sizeof *record;
    for (const size_t *offset = string_offsets[record->kind]; *offset; offset++) {
        const char *string = string_at(record, *offset);
        if (string)
            size += strlen(string) + 1;
    }
    return size;
}

struct record *packed_write(void *memory, const struct record *record)
{
    assert(memory && memory != record);
    struct record *copy = memory;
    *copy = *record;
    char *free_bytes = (char *)(copy + 1);
    for (const size_t *offset = string_offsets[record->kind]; *offset; offset++) {
        const char *string = string_at(record, *offset);
        if (!string)
            continue;
        size_t size = strlen(string) + 1;
        memcpy(free_bytes, string, size);
        memcpy((char *)copy + *offset, &free_bytes, sizeof free_bytes);
        free_bytes += size;
    }
    return copy;
}

struct record *packed_create(const struct record *record)
{
    assert(record);
    void *memory = malloc(packed_size(record));
    return memory ? packed_write(memory, record) : NULL;
}

void packed_destroy(struct record *record)
{
    if (!record)
        return;
    if (record->kind == RECORD_RESERVATION)
        explicit_bzero(record, packed_size(record));
    free(record);
}
