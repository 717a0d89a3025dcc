/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists (base/nodelist.h): the first line is the list, each further one the name of a node
 * that is looked for. What the list names is worked out a second time here, by expanding it. */

#include "base/names.h"
#include "base/nodelist.h"
#include "core/reservation/nodeset.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPANDED_MAX = 128, SAMPLES = 16 };

struct expansion {
    char *names[EXPANDED_MAX];
    size_t count;
};

/* One name more, unless it is longer than a name may be: no list contains that. */
static void keep(struct expansion *all, const char *name)
{
    FUZZ_CHECK(all->count < EXPANDED_MAX);
    all->names[all->count++] = strdup(name);
}

/* The rest of one list's name, when `so_far` stands before it. Valid, so nothing is checked. */
static void expand(struct expansion *all, const char *so_far, const char *rest)
{
    size_t plain = strcspn(rest, "[,");
    char *begun = NULL, *next = NULL;
    if (asprintf(&begun, "%s%.*s", so_far, (int)plain, rest) < 0)
        abort();
    if (rest[plain] != '[') {
        keep(all, begun);
        free(begun);
        return;
    }
    const char *at = rest + plain, *after = strchr(at, ']') + 1;
    while (*at++ != ']') {
        size_t width = strspn(at, "0123456789");
        unsigned long first = strtoul(at, NULL, 10), last = first;
        at += width;
        if (*at == '-') {
            last = strtoul(at + 1, NULL, 10);
            at += 1 + strspn(at + 1, "0123456789");
        }
        for (unsigned long number = first; number <= last; number++) {
            if (asprintf(&next, "%s%0*lu", begun, (int)width, number) < 0)
                abort();
            expand(all, next, after);
            free(next);
        }
    }
    free(begun);
}

static void expand_list(struct expansion *all, const char *list)
{
    while (*list != '\0') {
        bool inside = false;
        expand(all, "", list);
        for (; *list != '\0' && (inside || *list != ','); list++)
            inside = *list == '[' || (inside && *list != ']');
        list += *list == ',';
    }
}

static bool expansion_has(const struct expansion *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            return true;
    return false;
}

static void check_names(struct fuzz_input *in, const char *list, const struct expansion *all)
{
    for (size_t i = 0; i < all->count; i += 1 + all->count / SAMPLES)
        FUZZ_CHECK(nodelist_contains(list, all->names[i]) ==
                   (strlen(all->names[i]) <= NODELIST_NAME_MAX));
    for (int i = 0; i < SAMPLES && in->left > 0; i++) {
        char *name = fuzz_line(in);
        bool there = expansion_has(all, name) && name[0] && strlen(name) <= NODELIST_NAME_MAX;
        FUZZ_CHECK(nodelist_contains(list, name) == there);
        free(name);
    }
}

/* F3: each name beside each other one. Those that are too long are in no set. */
static void check_once(const char *list, const struct expansion *all)
{
    char name[NODELIST_NAME_MAX + 1];
    bool twice = false;
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; j < i && strlen(all->names[i]) <= NODELIST_NAME_MAX; j++)
            twice = twice || strcmp(all->names[i], all->names[j]) == 0;
    FUZZ_CHECK(nodeset_once(list, name) == !twice);
    size_t found = 0;
    for (size_t i = 0; twice && i < all->count; i++)
        found += strcmp(all->names[i], name) == 0;
    FUZZ_CHECK(!twice || found > 1);
}

void fuzz_one(struct fuzz_input *in)
{
    struct error err = {0};
    uint32_t count = 0;
    char *list = fuzz_line(in);
    if (nodelist_count(list, &count, &err) < 0) {
        FUZZ_CHECK(err.code == ERROR_INVALID && err.text[0] != '\0');
    } else {
        FUZZ_CHECK(count >= 1 && count <= NODELIST_COUNT_MAX);
        FUZZ_CHECK(strlen(list) <= NODES_TEXT_MAX);
        struct expansion all = {.count = 0};
        if (count <= EXPANDED_MAX) {
            expand_list(&all, list);
            FUZZ_CHECK(all.count == count);
            check_once(list, &all);
            check_names(in, list, &all);
        } else {
            while (in->left > 0) {
                char *name = fuzz_line(in);
                (void)nodelist_contains(list, name);
                free(name);
            }
        }
        for (size_t i = 0; i < all.count; i++)
            free(all.names[i]);
    }
    free(list);
}
