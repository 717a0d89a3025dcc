/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/nicbook.h"

#include "base/memory.h"
#include "base/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct nicbook {
    struct nicbook_node **nodes; /* when finished, ordered by name; the name lies behind each */
    size_t count, capacity;
    uint32_t *table; /* 1 + index, by hash of the name; 0: free */
    size_t slots;    /* a power of two */
    bool finished;
};

struct nicbook *nicbook_create(void)
{
    return memory_zeroed(sizeof(struct nicbook));
}

void nicbook_destroy(struct nicbook *book)
{
    if (!book)
        return;
    assert(book->count <= NICBOOK_NODES_MAX);
    for (size_t i = 0; i < book->count; i++)
        free(book->nodes[i]);
    free(book->nodes);
    free(book->table);
    free(book);
}

/* The slot of the name, or the free one where it belongs. */
static uint32_t *slot_of(const struct nicbook *book, const char *name)
{
    assert(book->slots > book->count);
    size_t slot = (size_t)hash_text(HASH_BEGIN, name) & (book->slots - 1);
    while (book->table[slot] != 0 && strcmp(book->nodes[book->table[slot] - 1]->name, name) != 0)
        slot = (slot + 1) & (book->slots - 1);
    return &book->table[slot];
}

static void index_names(struct nicbook *book, size_t slots)
{
    assert((slots & (slots - 1)) == 0);
    free(book->table);
    book->slots = slots;
    book->table = memory_zeroed(slots * sizeof *book->table);
    for (size_t i = 0; i < book->count; i++)
        *slot_of(book, book->nodes[i]->name) = (uint32_t)(i + 1);
}

static struct nicbook_node *node_of(struct nicbook *book, const char *name)
{
    assert(book->count < NICBOOK_NODES_MAX);
    if (2 * (book->count + 1) > book->slots)
        index_names(book, book->slots == 0 ? 64 : 2 * book->slots);
    uint32_t *slot = slot_of(book, name);
    if (*slot != 0)
        return book->nodes[*slot - 1];
    const size_t length = strlen(name) + 1;
    struct nicbook_node *node = memory_zeroed(sizeof *node + length);
    node->name = memcpy(node + 1, name, length);
    book->nodes = memory_room(book->nodes, book->count, &book->capacity, sizeof *book->nodes);
    book->nodes[book->count++] = node;
    *slot = (uint32_t)book->count;
    return node;
}

int nicbook_add(struct nicbook *book, const char *name, const struct nic *nic, struct error *err)
{
    assert(!book->finished);
    if (book->count == NICBOOK_NODES_MAX)
        return error_set(err, ERROR_FULL, "more than %d nodes", NICBOOK_NODES_MAX - 1);
    struct nicbook_node *node = node_of(book, name);
    uint32_t at = node->count;
    while (at > 0 && node->nics[at - 1].device >= nic->device)
        at--;
    if (at < node->count && node->nics[at].device == nic->device)
        return error_set(err, ERROR_INVALID, "nic%u of %s is there twice", nic->device, name);
    if (node->count == NICS_PER_NODE)
        return error_set(err, ERROR_INVALID, "%s has more than %d NICs", name, NICS_PER_NODE);
    memmove(&node->nics[at + 1], &node->nics[at], (node->count - at) * sizeof *nic);
    node->nics[at] = *nic;
    node->count++;
    return 0;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct nicbook_node *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static int compare_addresses(const void *a, const void *b)
{
    const struct nic *const *left = a, *const *right = b;
    return ((*left)->address > (*right)->address) - ((*left)->address < (*right)->address);
}

/* Two NICs of one node cannot have one address either. */
static void mark_shared(struct nicbook *book, size_t nics)
{
    struct nic **all = memory_resized(NULL, nics + 1, sizeof(struct nic *));
    size_t count = 0;
    for (size_t i = 0; i < book->count; i++)
        for (uint32_t j = 0; j < book->nodes[i]->count; j++)
            all[count++] = &book->nodes[i]->nics[j];
    assert(count == nics);
    if (count > 0)
        qsort(all, count, sizeof *all, compare_addresses);
    for (size_t i = 1; i < count; i++)
        if (all[i]->address == all[i - 1]->address)
            all[i]->shared = all[i - 1]->shared = true;
    free(all);
}

void nicbook_finish(struct nicbook *book)
{
    size_t nics = 0;
    assert(!book->finished);
    if (book->count > 0)
        qsort(book->nodes, book->count, sizeof *book->nodes, compare_nodes);
    index_names(book, book->slots == 0 ? 2 : book->slots);
    for (size_t i = 0; i < book->count; i++)
        nics += book->nodes[i]->count;
    mark_shared(book, nics);
    book->finished = true;
}

const struct nicbook_node *nicbook_find(const struct nicbook *book, const char *node)
{
    assert(book->finished);
    const uint32_t found = *slot_of(book, node);
    return found == 0 ? NULL : book->nodes[found - 1];
}

const struct nicbook_node *nicbook_at(const struct nicbook *book, size_t index)
{
    assert(book->finished);
    return index < book->count ? book->nodes[index] : NULL;
}

size_t nicbook_after(const struct nicbook *book, const char *name)
{
    size_t low = 0, high = book->count;
    assert(book->finished);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(book->nodes[middle]->name, name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t nicbook_count(const struct nicbook *book)
{
    assert(book);
    return book->count;
}
