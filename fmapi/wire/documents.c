/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/documents.h"

#include "base/memory.h"
#include "base/names.h"
#include "fmapi/wire/secrets.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES_MAX = 4096 };

const char *documents_path(enum documents_kind kind)
{
    static const char *const paths[] = {[DOCUMENTS_PARTITIONS] = "/fabric/vni/partitions",
                                        [DOCUMENTS_SWITCHES] = "/fabric/switches",
                                        [DOCUMENTS_PORTS] = "/fabric/ports",
                                        [DOCUMENTS_CABLES] = "/fabric/links"};
    return paths[kind];
}

void documents_clear(struct documents *documents, enum documents_kind kind)
{
    struct fabric_read *fabric = &documents->fabric;
    if (kind == DOCUMENTS_SWITCHES) {
        free(fabric->switches.all);
        fabric->switches = (struct fabric_switches_read){0};
    } else if (kind == DOCUMENTS_PORTS) {
        free(fabric->ports.all);
        fabric->ports = (struct fabric_ports_read){0};
    } else if (kind == DOCUMENTS_CABLES) {
        free(fabric->cables.all);
        fabric->cables = (struct fabric_cables_read){0};
    } else {
        free(documents->partitions.all);
        documents->partitions = (struct documents_partitions){0};
    }
}

void documents_release(struct documents *documents)
{
    for (int kind = 0; kind < DOCUMENTS_KINDS; kind++)
        documents_clear(documents, (enum documents_kind)kind);
}

size_t documents_count(const struct documents *documents, enum documents_kind kind)
{
    return kind == DOCUMENTS_SWITCHES ? documents->fabric.switches.count
           : kind == DOCUMENTS_PORTS  ? documents->fabric.ports.count
           : kind == DOCUMENTS_CABLES ? documents->fabric.cables.count
                                      : documents->partitions.count;
}

bool documents_same(const struct documents_stamp *a, const struct documents_stamp *b)
{
    const bool told = a->updated_us > 0 || a->version > 0;
    return told && a->version == b->version && a->updated_us == b->updated_us;
}

/* ---- one document ---- */

/* A document, and what is wrong with it. */
struct document {
    const char *link;
    json_t *object;
    struct error *err;
};

static int fault(const struct document *document, const char *what)
{
    char link[WORDS_MAX + 1];
    printable_copy(link, sizeof link, document->link, strlen(document->link));
    return error_set(document->err, ERROR_CORRUPT, "%s: %s", link, what);
}

/* Behind the last slash. */
static const char *name_of(const char *link)
{
    const char *slash = strrchr(link, '/');
    return slash ? slash + 1 : link;
}

static bool read_number(const struct document *document, const char *member, json_int_t max,
                        uint32_t *out)
{
    const json_t *value = json_object_get(document->object, member);
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > max)
        return false;
    *out = (uint32_t)number;
    return true;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcasecmp(word, *words) != 0)
        words++;
    return *words;
}

/* What is neither is not known: no word of it is documented. */
static uint8_t state_of(const struct document *document)
{
    static const char *const up[] = {"up", "online", "active", "enabled", "ok", "ready", NULL};
    static const char *const down[] = {"down",     "offline",     "failed", "disabled",
                                       "inactive", "unreachable", "error",  NULL};
    const char *word = json_string_value(json_object_get(document->object, "state"));
    if (!word)
        word = json_string_value(json_object_get(document->object, "status"));
    return !word                   ? FABRIC_UNKNOWN
           : is_one_of(word, up)   ? FABRIC_UP
           : is_one_of(word, down) ? FABRIC_DOWN
                                   : FABRIC_UNKNOWN;
}

static int add_switch(const struct document *document, struct documents *out)
{
    struct fabric_switches_read *all = &out->fabric.switches;
    struct fabric_switch row = {.state = state_of(document)};
    const char *name = name_of(document->link);
    uint32_t group, number;
    if (!read_number(document, "groupNumber", FABRIC_GROUPS - 1, &group) ||
        !read_number(document, "switchNumber", FABRIC_SWITCHES - 1, &number))
        return fault(document, "no groupNumber below 512 and switchNumber below 32");
    if (all->count == FABRIC_PLACES)
        return fault(document, "more switches than there are addresses");
    row.place = (uint16_t)(group * FABRIC_SWITCHES + number);
    printable_copy(row.name, sizeof row.name, name, strlen(name));
    all->all = memory_room(all->all, all->count, &all->capacity, sizeof *all->all);
    all->all[all->count++] = row;
    return 0;
}

static int add_port(const struct document *document, struct documents *out)
{
    struct fabric_ports_read *all = &out->fabric.ports;
    const char *type = json_string_value(json_object_get(document->object, "portType"));
    uint32_t group, number, port, dfa;
    if (!read_number(document, "groupNumber", FABRIC_GROUPS - 1, &group) ||
        !read_number(document, "switchNumber", FABRIC_SWITCHES - 1, &number) ||
        !read_number(document, "portNumber", FABRIC_PORTS - 1, &port))
        return fault(document, "no groupNumber below 512, switchNumber below 32 and portNumber "
                               "below 64");
    if (json_object_get(document->object, "DFA") &&
        (!read_number(document, "DFA", UINT32_MAX, &dfa) || dfa != dfa_of(group, number, port)))
        return fault(document, "its DFA is not that of its group, switch and port");
    if (all->count == FABRIC_PLACES * FABRIC_PORTS)
        return fault(document, "more ports than there are addresses");
    all->all = memory_room(all->all, all->count, &all->capacity, sizeof *all->all);
    all->all[all->count++] =
        (struct fabric_port){.name = hash_text(HASH_BEGIN, name_of(document->link)),
                             .dfa = dfa_of(group, number, port),
                             .state = state_of(document),
                             .edge = type && strcasecmp(type, "edge") == 0};
    return 0;
}

static int add_cable(const struct document *document, struct documents *out)
{
    struct fabric_cables_read *all = &out->fabric.cables;
    const json_t *ends = json_object_get(document->object, "portLinks");
    struct fabric_end_names row = {.state = state_of(document)};
    if (json_array_size(ends) != 2)
        return fault(document, "its portLinks are not two");
    for (size_t i = 0; i < 2; i++) {
        const char *end = json_string_value(json_array_get(ends, i));
        if (!end)
            return fault(document, "an entry of portLinks is no link");
        row.names[i] = hash_text(HASH_BEGIN, name_of(end));
    }
    if (row.names[0] == row.names[1])
        return fault(document, "both of its ends are the same port");
    if (all->count == FABRIC_CABLES_MAX)
        return fault(document, "more links than ports can have");
    all->all = memory_room(all->all, all->count, &all->capacity, sizeof *all->all);
    all->all[all->count++] = row;
    return 0;
}

/* "1024-2047", one entry each; added to what the set has. */
static int add_range(const struct document *document, const json_t *range, struct idset *vnis)
{
    struct idset some;
    const char *text = json_string_value(range);
    idset_init(&some);
    if (!text || json_string_length(range) > NODES_TEXT_MAX || idset_parse(&some, text, NULL) != 0)
        return fault(document, "an entry of vniRanges is no range of VNIs");
    vnis->count = 0;
    for (int i = 0; i < IDSET_WORDS; i++) {
        vnis->words[i] |= some.words[i];
        vnis->count += (uint32_t)__builtin_popcountll(vnis->words[i]);
    }
    return 0;
}

static int add_partition(const struct document *document, struct documents *out)
{
    struct documents_partitions *all = &out->partitions;
    const json_t *ranges = json_object_get(document->object, "vniRanges"), *range;
    const char *name = json_string_value(json_object_get(document->object, "partitionName"));
    size_t i;
    if (!name || !json_is_array(ranges))
        return fault(document, "no partitionName, or no array vniRanges");
    if (all->count == DOCUMENTS_PARTITIONS_MAX)
        return fault(document, "more than 256 partitions");
    all->all = memory_room(all->all, all->count, &all->capacity, sizeof *all->all);
    struct documents_partition *row = &all->all[all->count];
    printable_copy(row->name, sizeof row->name, name, strlen(name));
    idset_init(&row->vnis);
    json_array_foreach(ranges, i, range)
    {
        if (i == RANGES_MAX)
            return fault(document, "more than 4096 vniRanges");
        if (add_range(document, range, &row->vnis) != 0)
            return ERROR_CORRUPT;
    }
    all->count++;
    return 0;
}

static int add_document(enum documents_kind kind, const struct document *document,
                        struct documents *out)
{
    static int (*const add[])(const struct document *, struct documents *) = {
        [DOCUMENTS_SWITCHES] = add_switch,
        [DOCUMENTS_PORTS] = add_port,
        [DOCUMENTS_CABLES] = add_cable,
        [DOCUMENTS_PARTITIONS] = add_partition,
    };
    if (strlen(document->link) > DOCUMENTS_LINK_MAX)
        return error_set(document->err, ERROR_CORRUPT, "a link is longer than %d bytes",
                         DOCUMENTS_LINK_MAX);
    if (!json_is_object(document->object))
        return fault(document, "its document is not a JSON object");
    return add[kind](document, out);
}

int documents_single(enum documents_kind kind, const char *link, const char *body, size_t length,
                     struct documents *out, struct error *err)
{
    json_t *object = length > 0 ? json_loadb(body, length, 0, NULL) : NULL;
    const struct document document = {link, object, err};
    const int code = add_document(kind, &document, out);
    json_decref(object);
    return code;
}

/* ---- a page ---- */

void documents_page_release(struct documents_page *page)
{
    for (size_t i = 0; i < page->bare_count; i++)
        free(page->bare[i]);
    free(page->bare);
    free(page->next);
    *page = (struct documents_page){0};
}

static int64_t stamp_number(const json_t *list, const char *member)
{
    const json_t *value = json_object_get(list, member);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static int read_links(struct documents_page *page, enum documents_kind kind, const json_t *list,
                      struct documents *out, struct error *err)
{
    const json_t *links = json_object_get(list, "documentLinks");
    const json_t *documents = json_object_get(list, "documents");
    if (!json_is_array(links))
        return error_set(err, ERROR_CORRUPT, "documentLinks is missing or no array");
    page->links = json_array_size(links);
    page->bare = memory_zeroed((page->links + 1) * sizeof *page->bare);
    for (size_t i = 0; i < page->links; i++) {
        const char *link = json_string_value(json_array_get(links, i));
        if (!link || strlen(link) > DOCUMENTS_LINK_MAX)
            return error_set(err, ERROR_CORRUPT, "an entry of documentLinks is no link");
        const struct document document = {link, json_object_get(documents, link), err};
        if (!document.object)
            page->bare[page->bare_count++] = memory_text(link);
        else if (add_document(kind, &document, out) != 0)
            return ERROR_CORRUPT;
    }
    return 0;
}

static int read_list(struct documents_page *page, enum documents_kind kind, const json_t *list,
                     struct documents *out, struct error *err)
{
    const json_t *next = json_object_get(list, "nextPageLink");
    page->stamp =
        (struct documents_stamp){.version = stamp_number(list, "documentVersion"),
                                 .updated_us = stamp_number(list, "documentUpdateTimeMicros"),
                                 .claimed = stamp_number(list, "documentCount")};
    if (next && !json_is_null(next) &&
        (!json_is_string(next) || json_string_length(next) > DOCUMENTS_LINK_MAX))
        return error_set(err, ERROR_CORRUPT, "nextPageLink is no link");
    if (json_string_length(next) > 0)
        page->next = memory_text(json_string_value(next));
    return read_links(page, kind, list, out, err);
}

int documents_page(struct documents_page *page, enum documents_kind kind, const char *body,
                   size_t length, struct documents *out, struct error *err)
{
    *page = (struct documents_page){0};
    json_t *list = length > 0 ? json_loadb(body, length, 0, NULL) : NULL;
    const int code = json_is_object(list)
                         ? read_list(page, kind, list, out, err)
                         : error_set(err, ERROR_CORRUPT, "the body is not a JSON object");
    json_decref(list);
    return code;
}
