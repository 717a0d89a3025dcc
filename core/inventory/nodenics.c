/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/nodenics.h"

#include "base/memory.h"
#include "core/inventory/fabricmap.h"
#include "base/names.h"
#include "base/text.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_AT_ONCE = 8, CHANGE_EVERY_MS = 10 * 60 * 1000 };

/* ---- the text: "cxi0,4608,200000,1,serial,firmware;cxi1,…" ---- */

bool nodenics_word_valid(const char *word)
{
    assert(word);
    size_t length = 0;
    for (; length <= NODENICS_WORD_MAX && word[length]; length++)
        if (word[length] <= ' ' || word[length] > '~' || strchr("\"\\,;", word[length]))
            return false;
    return length <= NODENICS_WORD_MAX;
}

static bool device_valid(const char *device)
{
    assert(device);
    size_t length = 0;
    while (length <= NODENICS_DEVICE_MAX && node_char(device[length]))
        length++;
    return length > 0 && length <= NODENICS_DEVICE_MAX && device[length] == '\0';
}

static int by_device(const void *a, const void *b)
{
    assert(a && b);
    return strverscmp(((const struct nodenic *)a)->device, ((const struct nodenic *)b)->device);
}

bool nodenics_write(struct nodenic *nics, size_t count, char out[static NODENICS_TEXT_SIZE])
{
    size_t used = 0;
    assert(count <= NODENICS_NICS_MAX);
    out[0] = '\0';
    if (count > 0)
        qsort(nics, count, sizeof *nics, by_device);
    for (size_t i = 0; i < count; i++) {
        const struct nodenic *nic = &nics[i];
        if (!device_valid(nic->device) || (i > 0 && by_device(&nics[i - 1], nic) == 0))
            return false;
        used += (size_t)snprintf(out + used, NODENICS_TEXT_SIZE - used, "%s%s,%u,%u,%d,%s,%s",
                                 i > 0 ? ";" : "", nic->device, nic->address, nic->speed, nic->up,
                                 nic->serial, nic->firmware);
        assert(used < NODENICS_TEXT_SIZE);
    }
    return true;
}

/* What stands before the comma, semicolon or end, which is passed over unless it is the end. */
static bool read_word(const char **at, char end, char *out, size_t size)
{
    assert(size > 0 && (end == ',' || end == ';'));
    const size_t length = strcspn(*at, ",;");
    const char stop = (*at)[length];
    if (length >= size || (stop != end && !(end == ';' && stop == '\0')))
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length + (stop != '\0');
    return true;
}

static bool read_number(const char **at, uint32_t max, uint32_t *out)
{
    assert(*at);
    char digits[11];
    uint64_t value;
    if (!read_word(at, ',', digits, sizeof digits) || !text_number(digits, 10, max, &value) ||
        (digits[0] == '0' && digits[1] != '\0'))
        return false;
    *out = (uint32_t)value;
    return true;
}

bool nodenics_next(const char **at, struct nodenic *nic)
{
    assert(*at);
    const char *from = *at;
    uint32_t up = 0;
    *nic = (struct nodenic){.address = 0};
    if (*from == '\0' || !read_word(&from, ',', nic->device, sizeof nic->device) ||
        !device_valid(nic->device) || !read_number(&from, UINT32_MAX, &nic->address) ||
        !read_number(&from, UINT32_MAX, &nic->speed) || !read_number(&from, 1, &up) ||
        !read_word(&from, ',', nic->serial, sizeof nic->serial) ||
        !nodenics_word_valid(nic->serial) ||
        !read_word(&from, ';', nic->firmware, sizeof nic->firmware) ||
        !nodenics_word_valid(nic->firmware))
        return false;
    if (from[-1] == ';' && *from == '\0') /* nothing follows it */
        return false;
    nic->up = up;
    *at = from;
    return true;
}

bool nodenics_valid(const char *text)
{
    struct nodenic nics[2];
    size_t count = 0;
    assert(text);
    if (strlen(text) >= NODENICS_TEXT_SIZE)
        return false;
    for (; count <= NODENICS_NICS_MAX && nodenics_next(&text, &nics[count % 2]); count++)
        if (count > 0 && by_device(&nics[(count + 1) % 2], &nics[count % 2]) >= 0)
            return false;
    return count <= NODENICS_NICS_MAX && *text == '\0';
}

/* ---- what differs ---- */

struct words {
    char *text;
    size_t used, size;
    enum event_kind kind;
};

/* One difference; the gravest kind counts. What does not fit is cut off. */
__attribute__((format(printf, 4, 5))) static void
tell(struct words *words, enum event_kind kind, const struct nodenic *nic, const char *format, ...)
{
    static const uint8_t grave[EVENT_KIND_COUNT] = {
        [EVENT_NIC_LINK] = 1, [EVENT_NICS_CHANGED] = 2, [EVENT_NIC_REPLACED] = 3};
    char text[3 * NODENICS_WORD_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (grave[kind] > grave[words->kind])
        words->kind = kind;
    if (words->used < words->size)
        words->used += (size_t)snprintf(words->text + words->used, words->size - words->used,
                                        "%s%s %s", words->used > 0 ? ", " : "", nic->device, text);
}

static const char *or_unknown(const char *word)
{
    assert(word);
    return word[0] ? word : "unknown";
}

static void compare_one(struct words *words, const struct nodenic *was, const struct nodenic *is)
{
    assert(strcmp(was->device, is->device) == 0);
    const bool other = strcmp(was->serial, is->serial) != 0;
    if (other && was->serial[0] && is->serial[0])
        tell(words, EVENT_NIC_REPLACED, is, "was replaced (serial number %s, before %s)",
             is->serial, was->serial);
    else if (other)
        tell(words, EVENT_NICS_CHANGED, is, "has serial number %s, before %s",
             or_unknown(is->serial), or_unknown(was->serial));
    if (was->address != is->address)
        tell(words, EVENT_NICS_CHANGED, is, "has address 0x%x, before 0x%x", is->address,
             was->address);
    if (was->up != is->up)
        tell(words, EVENT_NIC_LINK, is, "has its link %s", is->up ? "up" : "down");
    if (was->speed != is->speed && was->up == is->up)
        tell(words, EVENT_NICS_CHANGED, is, "has %u Mbit/s, before %u", is->speed, was->speed);
    if (strcmp(was->firmware, is->firmware) != 0)
        tell(words, EVENT_NICS_CHANGED, is, "has firmware %s, before %s", or_unknown(is->firmware),
             or_unknown(was->firmware));
}

enum event_kind nodenics_compare(const char *before, const char *now, char *out, size_t size)
{
    struct words words = {.text = out, .size = size};
    struct nodenic was, is;
    assert(size > 0);
    out[0] = '\0';
    bool has_was = nodenics_next(&before, &was), has_is = nodenics_next(&now, &is);
    while (has_was || has_is) {
        const int order = !has_was ? 1 : !has_is ? -1 : by_device(&was, &is);
        if (order < 0)
            tell(&words, EVENT_NICS_CHANGED, &was, "is gone");
        else if (order > 0)
            tell(&words, EVENT_NICS_CHANGED, &is, "is new");
        else
            compare_one(&words, &was, &is);
        has_was = order <= 0 ? nodenics_next(&before, &was) : has_was;
        has_is = order >= 0 ? nodenics_next(&now, &is) : has_is;
    }
    return words.kind;
}

/* ---- the table ---- */

/* "cxi3" is 3; -1: it is no NIC of Slingshot. */
static int device_number(const char *device)
{
    const char *digits = device + 3;
    assert(device);
    if (strncmp(device, "cxi", 3) != 0 || digits[0] < '0' || digits[0] > '9')
        return -1;
    if (digits[1] == '\0')
        return digits[0] - '0';
    const int number = 10 * (digits[0] - '0') + (digits[1] - '0');
    return digits[0] == '1' && digits[1] >= '0' && digits[1] <= '9' && digits[2] == '\0' &&
                   number < NICS_PER_NODE
               ? number
               : -1;
}

/* They are ordered by the names of their devices, of which "cxi10" comes before "cxi2". */
static size_t insert(struct nic *out, size_t count, const struct nic *nic)
{
    size_t at = count;
    assert(count < NICS_PER_NODE);
    while (at > 0 && out[at - 1].device > nic->device)
        at--;
    memmove(&out[at + 1], &out[at], (count - at) * sizeof *out);
    out[at] = *nic;
    return count + 1;
}

/* libcxi's is of 20 bits; a longer one is the port's (fabricmap.h). */
static uint32_t dfa_told(uint32_t address)
{
    return address <= NIC_ADDRESS_MAX ? address << 12 : address & ~UINT32_C(0xfff);
}

/* Where the NICs of a text are. */
static uint8_t read_places(const char *text, struct nic out[static NICS_PER_NODE])
{
    struct nodenic told;
    size_t count = 0;
    while (count < NICS_PER_NODE && nodenics_next(&text, &told)) {
        const int number = device_number(told.device);
        const struct nic nic = {.address = dfa_told(told.address),
                                .device = (uint8_t)number,
                                .link = told.up ? FABRIC_UP : FABRIC_DOWN};
        if (number >= 0)
            count = insert(out, count, &nic);
    }
    return (uint8_t)count;
}

/* How many have a name up to and with this one. */
static size_t count_up_to(const struct nodenics_table *table, const char *node)
{
    assert(node);
    size_t low = 0, high = table->count;
    /* Nearly always the last one, when they are loaded. */
    if (high > 0 && strcmp(table->all[high - 1]->node, node) <= 0)
        return high;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(table->all[middle]->node, node) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct nodenics *nodenics_find(const struct nodenics_table *table, const char *node)
{
    assert(table->count <= table->capacity);
    const size_t at = count_up_to(table, node);
    return at > 0 && strcmp(table->all[at - 1]->node, node) == 0 ? table->all[at - 1] : NULL;
}

const struct nodenics *nodenics_after(const struct nodenics_table *table, const char *node)
{
    assert(table->count <= table->capacity);
    const size_t at = count_up_to(table, node);
    return at < table->count ? table->all[at] : NULL;
}

bool nodenics_has_room(const struct nodenics_table *table)
{
    assert(table->count <= NODENICS_NODES_MAX);
    return table->count < NODENICS_NODES_MAX && table->bytes < NODENICS_BYTES_MAX;
}

static size_t size_of(const struct nodenics *row)
{
    assert(row->nics);
    return sizeof *row + row->place_count * sizeof *row->places + strlen(row->node) +
           strlen(row->nics) + 2;
}

void *nodenics_put(struct nodenics_table *table, const struct nics_record *record)
{
    struct nic places[NICS_PER_NODE];
    const uint8_t place_count = read_places(record->nics, places);
    const size_t name = strlen(record->node) + 1, text = strlen(record->nics) + 1;
    const size_t padded =
        (name + alignof(struct nic) - 1) / alignof(struct nic) * alignof(struct nic);
    struct nodenics *row =
        memory_zeroed(sizeof *row + padded + place_count * sizeof *places + text);
    struct nic *kept = (struct nic *)(void *)(row->node + padded);
    struct nodenics *before = nodenics_find(table, record->node);
    const size_t at = count_up_to(table, record->node) - (before != NULL);
    if (before)
        *row = *before;
    row->changed_ms = record->changed_ms;
    row->order = record->order;
    row->place_count = place_count;
    row->places = memcpy(kept, places, place_count * sizeof *places);
    row->nics = memcpy(kept + place_count, record->nics, text);
    memcpy(row->node, record->node, name);
    table->bytes += size_of(row);
    if (before) {
        assert(table->bytes >= size_of(before));
        table->bytes -= size_of(before);
        table->all[at] = row;
        return before;
    }
    table->all = memory_room(table->all, table->count, &table->capacity, sizeof *table->all);
    memmove(table->all + at + 1, table->all + at, (table->count - at) * sizeof *table->all);
    table->all[at] = row;
    table->count++;
    return NULL;
}

void *nodenics_take(struct nodenics_table *table, const char *node)
{
    struct nodenics *row = nodenics_find(table, node);
    if (!row)
        return NULL;
    const size_t behind = count_up_to(table, node);
    assert(table->bytes >= size_of(row));
    table->bytes -= size_of(row);
    memmove(table->all + behind - 1, table->all + behind,
            (table->count - behind) * sizeof *table->all);
    table->count--;
    return row;
}

/* allowed_ms is when it could have changed no more often than it did: each change moves it on. */
bool nodenics_allow(struct nodenics *row, int64_t now_ms)
{
    assert(now_ms > 0);
    const int64_t oldest = now_ms - (int64_t)CHANGES_AT_ONCE * CHANGE_EVERY_MS;
    if (row->allowed_ms < oldest)
        row->allowed_ms = oldest;
    if (row->allowed_ms + CHANGE_EVERY_MS > now_ms)
        return false;
    row->allowed_ms += CHANGE_EVERY_MS;
    row->limited = false;
    return true;
}

void nodenics_release(struct nodenics_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->all[i]);
    free(table->all);
    *table = (struct nodenics_table){0};
}
