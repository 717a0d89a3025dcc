/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/steppath.h"
#include "core/fabric/cleanup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct cleaner *cleaner_of(struct reservation *r)
{
    if (!r->cleaner) {
        r->cleaner = memory_zeroed(sizeof *r->cleaner);
        r->cleaner->op.owner = r;
    }
    assert(r->cleaner->op.owner == r);
    return r->cleaner;
}

static void insert_cleanup(struct cleaner *k, uint32_t at, struct cleanup *c)
{
    assert(at <= k->count);
    if (at == 0)
        cleaner_forget_pieces(k); /* those of the one that was first */
    k->cleanups = memory_room(k->cleanups, k->count, &k->capacity, sizeof *k->cleanups);
    memmove(&k->cleanups[at + 1], &k->cleanups[at], (k->count - at) * sizeof *k->cleanups);
    k->cleanups[at] = c;
    k->count++;
}

static void remove_cleanup(struct cleaner *k, const struct cleanup *c)
{
    assert(k->count > 0);
    uint32_t at = 0;
    while (k->cleanups[at] != c)
        at++;
    if (at == 0)
        cleaner_forget_pieces(k);
    k->count--;
    memmove(&k->cleanups[at], &k->cleanups[at + 1], (k->count - at) * sizeof *k->cleanups);
}

struct cleanup *cleaner_add(struct cleaner *k, uint32_t at, const char *step, bool below)
{
    assert(at > 0 || k->op.call == 0);
    size_t length = strlen(step);
    struct cleanup *c = memory_zeroed(sizeof *c + length + 1);
    memcpy(c->step, step, length + 1);
    c->length = length;
    c->below = below;
    insert_cleanup(k, at, c);
    return c;
}

struct cleanup *cleaner_find(const struct cleaner *k, const char *step, bool below)
{
    assert(step);
    for (uint32_t i = 0; k && i < k->count; i++) {
        struct cleanup *c = k->cleanups[i];
        if (!c->query && c->below == below && strcmp(c->step, step) == 0)
            return c;
    }
    return NULL;
}

struct cleanup *cleaner_query(struct cleaner *k, uint32_t at)
{
    uint32_t i = 0;
    while (i < k->count && !k->cleanups[i]->query)
        i++;
    if (i == k->count)
        cleaner_add(k, at, "", false)->query = true;
    else if (i > at) {
        struct cleanup *c = k->cleanups[i];
        remove_cleanup(k, c);
        insert_cleanup(k, at, c);
    } else
        at = i;
    return k->cleanups[at];
}

/* As steppath_within, of steps that are valid already: this is asked of a thousand at a time. */
static bool cleanup_covers(const struct cleanup *c, const char *step, bool below)
{
    assert(!c->query);
    bool begins = strncmp(step, c->step, c->length) == 0;
    bool same = begins && step[c->length] == '\0';
    return c->below ? same || (begins && step[c->length] == '/' && c->step[0] == '/')
                    : same && !below;
}

struct cleanup *cleaner_covering(const struct cleaner *k, const char *step, bool below)
{
    assert(step);
    for (uint32_t i = 0; i < k->count; i++) {
        if (!k->cleanups[i]->query && cleanup_covers(k->cleanups[i], step, below))
            return k->cleanups[i];
    }
    return NULL;
}

void cleaner_forget_pieces(struct cleaner *k)
{
    assert(k->pieces || k->piece_count == 0);
    for (size_t i = 0; i < k->piece_count; i++)
        free(k->pieces[i].step);
    free(k->pieces);
    k->pieces = NULL;
    k->piece_count = k->piece = 0;
    k->pieces_known = false;
}

void cleaner_keep_pieces(struct cleaner *k, const struct cleanup *c,
                         const struct fmcall_steps *steps)
{
    assert(c == k->cleanups[0]);
    assert(!c->query);
    cleaner_forget_pieces(k);
    k->pieces_known = true;
    for (size_t i = 0; i < steps->count; i++) {
        const struct fmcall_step *step = &steps->steps[i];
        bool meant =
            c->below ? steppath_within(step->step, c->step) : strcmp(step->step, c->step) == 0;
        if (!meant)
            continue;
        k->pieces = memory_resized(k->pieces, k->piece_count + 1, sizeof *k->pieces);
        k->pieces[k->piece_count++] =
            (struct cleanup_piece){memory_text(step->step), step->trees[0]};
    }
}

void cleaner_move(struct cleaner *k, struct cleanup *c, bool to_front)
{
    assert(k->op.call == 0);
    remove_cleanup(k, c);
    insert_cleanup(k, to_front ? 0 : k->count, c);
}

void cleaner_end(struct cleaner *k, struct cleanup *c)
{
    assert(k->count > 0);
    remove_cleanup(k, c);
    for (struct waiter *w; (w = c->waiters);) {
        c->waiters = w->next;
        free(w);
    }
    free(c);
}

void cleaner_destroy(struct cleaner *k)
{
    if (!k)
        return;
    while (k->count > 0)
        cleaner_end(k, k->cleanups[k->count - 1]);
    assert(!k->pieces);
    free(k->cleanups);
    free(k->op.words);
    free(k);
}
