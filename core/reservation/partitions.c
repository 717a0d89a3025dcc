/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/partitions.h"

#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void partitions_release(struct partitions *p)
{
    assert(p);
    free(p->all);
    *p = (struct partitions){0};
}

/* In a line of the text a blank ends the name. */
static void clean_name(char out[static PARTITION_NAME_MAX + 1], const char *name)
{
    (void)snprintf(out, PARTITION_NAME_MAX + 1, "%s", name && name[0] != '\0' ? name : "?");
    text_make_printable(out);
    for (char *at = out; (at = strchr(at, ' '));)
        *at = '?';
}

void partitions_add(struct partitions *p, const char *name, const struct idset *vnis)
{
    assert(p);
    char clean[PARTITION_NAME_MAX + 1];
    size_t at = 0;
    if (vnis->count == 0)
        return;
    clean_name(clean, name);
    while (at < p->count && strcmp(p->all[at].name, clean) != 0)
        at++;
    if (at == p->count) {
        p->all = memory_room(p->all, p->count, &p->capacity, sizeof *p->all);
        p->all[p->count++] = (struct partition_entry){.vnis.count = 0};
        memcpy(p->all[at].name, clean, sizeof clean);
    }
    idset_add_all(&p->all[at].vnis, vnis);
}

void partitions_union(const struct partitions *p, struct idset *out)
{
    assert(p);
    idset_init(out);
    for (size_t i = 0; i < p->count; i++)
        idset_add_all(out, &p->all[i].vnis);
}

static uint32_t count_ranges(const struct idset *set)
{
    assert(set);
    uint32_t count = 0;
    uint64_t before = 0;
    for (int i = 0; i < IDSET_WORDS; i++) {
        count += (uint32_t)__builtin_popcountll(set->words[i] & ~(set->words[i] << 1 | before));
        before = set->words[i] >> 63;
    }
    return count;
}

void partitions_bound(struct partitions *p)
{
    assert(p);
    uint64_t ranges = 0;
    struct idset all;
    for (size_t i = 0; i < p->count; i++)
        ranges += count_ranges(&p->all[i].vnis);
    if (ranges <= PARTITION_RANGES_MAX)
        return;
    partitions_union(p, &all);
    partitions_release(p);
    partitions_add(p, NULL, &all);
}

const char *partitions_of(const struct partitions *p, uint16_t vni)
{
    assert(p);
    for (size_t i = 0; i < p->count; i++)
        if (idset_has(&p->all[i].vnis, vni))
            return p->all[i].name;
    return NULL;
}

char *partitions_text(const struct partitions *p)
{
    assert(p);
    char *text = NULL;
    size_t size;
    FILE *out = memory_must(open_memstream(&text, &size));
    for (size_t i = 0; i < p->count; i++) {
        (void)fprintf(out, "%s ", p->all[i].name);
        idset_print(out, &p->all[i].vnis);
        (void)fputc('\n', out);
    }
    if (fclose(out) != 0) /* it is memory that it could not have */
        (void)memory_must(NULL);
    return text;
}

static int parse_line(struct partitions *p, char *line, struct error *err)
{
    assert(p);
    struct idset vnis;
    char *blank = strchr(line, ' '), clean[PARTITION_NAME_MAX + 1];
    if (!blank || blank == line || blank - line > PARTITION_NAME_MAX)
        return error_set(err, ERROR_CORRUPT, "partitions: a line has no name");
    *blank = '\0';
    clean_name(clean, line);
    if (strcmp(clean, line) != 0 || idset_parse(&vnis, blank + 1, NULL) < 0 || vnis.count == 0)
        return error_set(err, ERROR_CORRUPT, "partitions: \"%.64s\" has no VNIs", clean);
    partitions_add(p, line, &vnis);
    return 0;
}

int partitions_parse(struct partitions *p, const char *text, struct error *err)
{
    assert(p->count == 0);
    char *copy = memory_text(text), *rest = copy;
    int rc = 0;
    while (rc == 0 && rest[0] != '\0') {
        char *line = rest, *end = strchr(rest, '\n');
        rest = end ? end + 1 : rest + strlen(rest);
        if (end)
            *end = '\0';
        rc = parse_line(p, line, err);
    }
    free(copy);
    return rc;
}

bool partitions_text_valid(const char *text)
{
    struct partitions p = {0};
    const bool valid = partitions_parse(&p, text, NULL) == 0;
    partitions_release(&p);
    return valid;
}
