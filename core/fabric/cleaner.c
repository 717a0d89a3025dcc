/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/steppath.h"
#include "core/fabric/cleanup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct cleaner *cleaner_of(struct reservation *r)
{
    if (r->cleaner == NULL) {
        r->cleaner = memory_zeroed(sizeof *r->cleaner);
        r->cleaner->op.owner = r;
    }
    assert(r->cleaner->op.owner == r);
    return r->cleaner;
}

static void append_cleanup(struct cleaner *k, struct cleanup *c)
{
    assert(c->next == NULL);
    assert((k->first == NULL) == (k->last == NULL));
    if (k->last != NULL)
        k->last->next = c;
    else
        k->first = c;
    k->last = c;
    k->count++;
}

struct cleanup *cleaner_append(struct cleaner *k, const char *step, bool below)
{
    assert(step[0] != '\0');
    size_t length = strlen(step);
    struct cleanup *c = memory_zeroed(sizeof *c + length + 1);
    memcpy(c->step, step, length + 1);
    c->length = length;
    c->below = below;
    append_cleanup(k, c);
    return c;
}

struct cleanup *cleaner_look_first(struct cleaner *k)
{
    assert(k->op.call == 0 || k->first != NULL);
    struct cleanup *c = memory_zeroed(sizeof *c + 1);
    struct cleanup *before = k->op.call != 0 ? k->first : NULL;
    c->look = true;
    c->next = before != NULL ? before->next : k->first;
    if (before != NULL) {
        before->next = c;
    } else {
        cleaner_forget_pieces(k); /* those of the one that was first */
        k->first = c;
    }
    if (c->next == NULL)
        k->last = c;
    k->count++;
    return c;
}

struct cleanup *cleaner_find(const struct cleaner *k, const char *step, bool below)
{
    assert(step != NULL);
    struct cleanup *c = k != NULL ? k->first : NULL;
    while (c != NULL && (c->look || c->below != below || strcmp(c->step, step) != 0))
        c = c->next;
    return c;
}

/* As steppath_within, of steps that are valid already: this is asked of a thousand at a time. */
static bool cleanup_covers(const struct cleanup *c, const char *step, bool below)
{
    assert(!c->look);
    bool begins = strncmp(step, c->step, c->length) == 0;
    bool same = begins && step[c->length] == '\0';
    return c->below ? same || (begins && step[c->length] == '/' && c->step[0] == '/')
                    : same && !below;
}

struct cleanup *cleaner_covering(const struct cleaner *k, const char *step, bool below)
{
    assert(step != NULL);
    struct cleanup *c = k != NULL ? k->first : NULL;
    while (c != NULL && (c->look || !cleanup_covers(c, step, below)))
        c = c->next;
    return c;
}

void cleaner_forget_pieces(struct cleaner *k)
{
    assert(k->pieces != NULL || k->piece_count == 0);
    for (size_t i = 0; i < k->piece_count; i++) {
        free(k->pieces[i].step);
        free(k->pieces[i].trees);
    }
    free(k->pieces);
    k->pieces = NULL;
    k->piece_count = k->piece = 0;
    k->looked = false;
}

void cleaner_keep_pieces(struct cleaner *k, const struct cleanup *c,
                         const struct fmcall_steps *steps)
{
    assert(c == k->first);
    assert(!c->look);
    cleaner_forget_pieces(k);
    k->looked = true;
    for (size_t i = 0; i < steps->count; i++) {
        const struct fmcall_step *step = &steps->steps[i];
        bool meant =
            c->below ? steppath_within(step->step, c->step) : strcmp(step->step, c->step) == 0;
        if (!meant)
            continue;
        size_t bytes = step->tree_count * sizeof *step->trees;
        struct cleanup_piece piece = {.step = memory_text(step->step),
                                      .trees = memory_zeroed(bytes),
                                      .tree_count = step->tree_count};
        memcpy(piece.trees, step->trees, bytes);
        k->pieces = memory_resized(k->pieces, k->piece_count + 1, sizeof *k->pieces);
        k->pieces[k->piece_count++] = piece;
    }
}

void cleaner_await(struct cleanup *c, uint64_t ticket, int64_t due_ms)
{
    assert(c != NULL);
    struct waiter *w = memory_zeroed(sizeof *w);
    w->ticket = ticket;
    w->due_ms = due_ms;
    w->next = c->waiters;
    c->waiters = w;
}

size_t cleaner_unreachable(const struct fmcall_steps *steps, const char **first)
{
    assert(steps != NULL);
    size_t count = 0;
    for (size_t i = steps->count; i-- > 0;) {
        if (steppath_valid(steps->steps[i].step))
            continue;
        count++;
        if (first != NULL)
            *first = steps->steps[i].step;
    }
    return count;
}

static void unlink_cleanup(struct cleaner *k, struct cleanup *c)
{
    assert(k->count > 0);
    struct cleanup **link = &k->first, *before = NULL;
    while (*link != c) {
        before = *link;
        link = &(*link)->next;
    }
    if (k->first == c)
        cleaner_forget_pieces(k);
    *link = c->next;
    if (k->last == c)
        k->last = before;
    k->count--;
    c->next = NULL;
}

void cleaner_put_last(struct cleaner *k, struct cleanup *c)
{
    assert(k->first != NULL);
    unlink_cleanup(k, c);
    append_cleanup(k, c);
}

void cleaner_put_first(struct cleaner *k, struct cleanup *c)
{
    assert(!k->looked); /* the one that was first waits, and has no pieces */
    unlink_cleanup(k, c);
    c->next = k->first;
    if (k->last == NULL)
        k->last = c;
    k->first = c;
    k->count++;
}

static void free_cleanup(struct cleanup *c)
{
    assert(c->next == NULL);
    for (struct waiter *w = c->waiters, *next; w != NULL; w = next) {
        next = w->next;
        free(w);
    }
    free(c);
}

void cleaner_end(struct cleaner *k, struct cleanup *c)
{
    assert(k->count > 0);
    unlink_cleanup(k, c);
    free_cleanup(c);
}

void cleaner_destroy(struct cleaner *k)
{
    if (k == NULL)
        return;
    while (k->first != NULL)
        cleaner_end(k, k->first);
    assert(k->count == 0);
    free(k->op.words);
    free(k);
}
