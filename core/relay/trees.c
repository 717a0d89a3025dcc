/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/steppath.h"
#include "core/relay/relay.h"
#include "core/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Between two lists: more and more, and at most two minutes. */
enum { LIST_MS = 500, LIST_DOUBLED_MAX = 8 };

void relay_create(const struct core *core, struct reservation *r)
{
    assert(!r->relay);
    relay_of(core, r)->complete = true;
}

struct relay *relay_of(const struct core *core, struct reservation *r)
{
    assert(reservation_relayed(r));
    if (!r->relay) {
        r->relay = memory_zeroed(sizeof *r->relay);
        r->relay->settles_ms = core->started_ms + core->config.call_timeout_ms;
    }
    return r->relay;
}

static void free_request(struct relayed *one)
{
    assert(one);
    for (struct waiter *w; (w = one->waiters);) {
        one->waiters = w->next;
        free(w);
    }
    free(one->op.words);
    free(one->step);
    free(one->body);
    free(one);
}

void relay_destroy(struct relay *relay)
{
    if (!relay)
        return;
    assert(relay->trees || relay->tree_count == 0);
    for (struct relayed *one; (one = relay->requests);) {
        relay->requests = one->next;
        free_request(one);
    }
    while (relay->tree_count > 0)
        free(relay->trees[--relay->tree_count].step);
    free(relay->trees);
    free(relay);
}

bool relay_in_flight(const struct reservation *r)
{
    assert(r);
    for (const struct relayed *one = r->relay ? r->relay->requests : NULL; one; one = one->next) {
        if (one->op.call != 0)
            return true;
    }
    return false;
}

void relay_add_tree(struct relay *relay, uint16_t id, const char *step)
{
    assert(step);
    assert(id < FMCALL_TREES);
    relay_drop_tree(relay, id); /* its end was not seen */
    relay->trees =
        memory_room(relay->trees, relay->tree_count, &relay->tree_capacity, sizeof *relay->trees);
    relay->trees[relay->tree_count++] =
        (struct relay_tree){id, memory_text(step), relay->cleanup_calls};
}

const struct relay_tree *relay_find_tree(const struct relay *relay, uint16_t id)
{
    assert(id < FMCALL_TREES);
    for (uint32_t i = 0; relay && i < relay->tree_count; i++) {
        if (relay->trees[i].id == id)
            return &relay->trees[i];
    }
    return NULL;
}

static void drop_at(struct relay *relay, uint32_t at)
{
    assert(at < relay->tree_count);
    free(relay->trees[at].step);
    relay->trees[at] = relay->trees[--relay->tree_count];
}

void relay_drop_tree(struct relay *relay, uint16_t id)
{
    assert(relay);
    const struct relay_tree *tree = relay_find_tree(relay, id);
    if (tree)
        drop_at(relay, (uint32_t)(tree - relay->trees));
}

/* ---- steps ---- */

static bool is_meant(const char *of, const char *step, bool below)
{
    assert(of && step);
    return strcmp(of, step) == 0 || (below && steppath_within(of, step));
}

bool relay_is_joining(const struct reservation *r, const char *step, bool below)
{
    assert(step);
    for (const struct relayed *one = r->relay ? r->relay->requests : NULL; one; one = one->next) {
        if (one->kind == FMCALL_JOIN && !one->refused && is_meant(one->step, step, below))
            return true;
    }
    return false;
}

bool relay_step_is_empty(const struct reservation *r, const char *step, bool below)
{
    assert(step);
    const struct relay *relay = r->relay;
    if (!relay || !relay->complete || relay_is_joining(r, step, below))
        return false;
    for (uint32_t i = 0; i < relay->tree_count; i++) {
        if (is_meant(relay->trees[i].step, step, below))
            return false;
    }
    return true;
}

void relay_note_cleanup(struct reservation *r)
{
    assert(r->cleaner);
    if (r->relay)
        r->relay->cleanup_calls++;
}

/* What was made meanwhile may be gone, too. */
void relay_end_step(struct reservation *r, const char *step)
{
    assert(step);
    struct relay *relay = r->relay;
    if (!relay)
        return;
    relay->complete = relay->complete && !relay_is_joining(r, step, false);
    for (uint32_t i = relay->tree_count; i > 0; i--) {
        if (strcmp(relay->trees[i - 1].step, step) != 0)
            continue;
        if (relay->trees[i - 1].before < relay->cleanup_calls)
            drop_at(relay, i - 1);
        else
            relay->complete = false;
    }
}

void relay_end_tree(struct reservation *r, const char *step, uint16_t id)
{
    assert(id < FMCALL_TREES);
    struct relay *relay = r->relay;
    if (!relay)
        return;
    relay->complete = relay->complete && !relay_is_joining(r, step, false);
    relay_drop_tree(relay, id);
}

void relay_doubt(struct reservation *r)
{
    assert(r);
    if (r->relay)
        r->relay->complete = false;
}

void relay_unsettle(const struct core *core, struct reservation *r)
{
    assert(core->config.call_timeout_ms > 0);
    if (r->relay && r->relay->settles_ms < core->now_ms + core->config.call_timeout_ms)
        r->relay->settles_ms = core->now_ms + core->config.call_timeout_ms;
}

/* ---- lists ---- */

static bool is_named(const struct relay_view *view, const char *step)
{
    assert(view->step_count <= RELAY_STEPS_SHOWN);
    for (uint32_t i = 0; i < view->step_count; i++) {
        if (strcmp(view->steps[i], step) == 0)
            return true;
    }
    return false;
}

void relay_view(const struct reservation *r, struct relay_view *out)
{
    assert(r);
    const struct relay *relay = r->relay;
    *out = (struct relay_view){.trees = relay ? relay->tree_count : 0,
                               .all = relay && relay->complete};
    for (uint32_t i = 0; i < out->trees; i++) {
        if (is_named(out, relay->trees[i].step))
            continue;
        if (out->step_count == RELAY_STEPS_SHOWN) {
            out->step_count = 0;
            return;
        }
        out->steps[out->step_count++] = relay->trees[i].step;
    }
}

static int by_step(const void *a, const void *b)
{
    const struct relay_tree *one = a, *other = b;
    const int order = strcmp(one->step, other->step);
    return order ? order : one->id - other->id;
}

void relay_each_step(const struct reservation *r,
                     void (*each)(void *arg, const char *step, uint32_t trees), void *arg)
{
    struct relay *relay = r->relay;
    const uint32_t count = relay ? relay->tree_count : 0;
    assert(each);
    if (count > 0)
        qsort(relay->trees, count, sizeof *relay->trees, by_step);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count; end++) {
            if (strcmp(relay->trees[end].step, relay->trees[i].step) != 0)
                break;
        }
        each(arg, relay->trees[i].step, end - i);
    }
}

bool relay_list(const struct reservation *r, struct fmcall_steps *out)
{
    assert(r);
    struct relay *relay = r->relay;
    *out = (struct fmcall_steps){0};
    if (!relay || !relay->complete)
        return false;
    const size_t count = relay->tree_count;
    if (count == 0)
        return true;
    qsort(relay->trees, count, sizeof *relay->trees, by_step);
    /* One block: the steps, and behind them all ids. */
    struct fmcall_step *steps = memory_zeroed(count * (sizeof *steps + sizeof(uint16_t)));
    uint16_t *ids = (uint16_t *)(void *)&steps[count];
    for (size_t i = 0; i < count; i++) {
        const bool first = i == 0 || strcmp(relay->trees[i].step, relay->trees[i - 1].step) != 0;
        ids[i] = relay->trees[i].id;
        if (first)
            steps[out->count++] = (struct fmcall_step){relay->trees[i].step, &ids[i], 0};
        steps[out->count - 1].tree_count++;
    }
    out->steps = steps;
    return true;
}

void relay_list_release(struct fmcall_steps *steps)
{
    assert(steps->steps || steps->count == 0);
    free((void *)(uintptr_t)steps->steps);
    *steps = (struct fmcall_steps){0};
}

int64_t relay_list_due(const struct reservation *r)
{
    assert(r);
    const struct relay *relay = r->relay;
    if (!relay || relay->complete)
        return INT64_MAX;
    for (const struct relayed *one = relay->requests; one; one = one->next) {
        if (one->op.call != 0 || one->op.queued != FMCALL_NONE) /* it may change what is listed */
            return INT64_MAX;
    }
    return relay->list_ms > relay->settles_ms ? relay->list_ms : relay->settles_ms + 1;
}

void relay_note_list(const struct core *core, struct reservation *r)
{
    struct relay *relay = r->relay;
    if (!relay)
        return;
    assert(relay->lists <= LIST_DOUBLED_MAX);
    relay->list_ms = core->now_ms + ((int64_t)LIST_MS << relay->lists);
    relay->lists += relay->lists < LIST_DOUBLED_MAX;
}

void relay_learn(struct reservation *r, const struct fmcall_steps *steps, int64_t sent_ms)
{
    assert(steps->steps || steps->count == 0);
    struct relay *relay = r->relay;
    if (!relay || relay->complete || steps->skipped > 0 || sent_ms <= relay->settles_ms)
        return;
    if (relay_in_flight(r)) /* what it has made may be listed already, and would count twice */
        return;
    while (relay->tree_count > 0)
        drop_at(relay, relay->tree_count - 1);
    for (size_t i = 0; i < steps->count; i++) {
        for (size_t j = 0; j < steps->steps[i].tree_count; j++)
            relay_add_tree(relay, steps->steps[i].trees[j], steps->steps[i].step);
    }
    relay->complete = true;
    relay->lists = 0;
    relay->list_ms = relay->awaited_ms = 0;
}
