/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/deferred.h"

#include "core/reservation/reservation.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void copy_steps(struct told *told, const struct fmcall_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        int step = steps_find(steps->steps[i].step);
        size_t count = steps->steps[i].tree_count;
        assert(step >= 0);
        if (count > STEP_TREES) { /* some of what the core remembers have just gone */
            count = STEP_TREES;
            told->more_trees = true;
        }
        memcpy(told->trees[step], steps->steps[i].trees, count * sizeof told->trees[step][0]);
    }
}

static void copy_answer(struct told *told, const struct answer *answer)
{
    told->ticket = answer->ticket;
    told->kind = answer->kind;
    if (answer->steps)
        copy_steps(told, answer->steps);
    if (answer->tree)
        told->tree = answer->tree->id;
    if (answer->shared) {
        told->shared = answer->shared->record.vni;
        told->expires_ms = answer->shared->record.expires_ms;
    }
    if (answer->reservation) {
        const struct reservation *r = answer->reservation;
        told->number = r->number;
        memcpy(told->vnis, r->vnis, sizeof told->vnis);
        told->vni_count = r->vni_count;
        told->hwcoll = r->hwcoll;
        told->state = r->state;
        told->addresses = r->addresses;
        told->pkey = r->pkey;
        snprintf(told->key, sizeof told->key, "%s",
                 secret_none(r->key) ? "" : secret_expose(r->key));
        snprintf(told->token, sizeof told->token, "%s",
                 secret_none(r->token) ? "" : secret_expose(r->token));
    }
}

static void copy_text(char *out, size_t size, const char *text)
{
    int length = snprintf(out, size, "%s", text ? text : "");
    assert((size_t)length < size);
    (void)length;
}

static uint64_t number_behind(const struct core *core, const char *name)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    const struct reservation *r =
        fm_name_split(name, cluster, &job) ? core_find(core, cluster, job) : NULL;
    return r ? r->number : 0;
}

void word_copy(struct word *word, const struct core *core, const struct effect *effect,
               uint64_t batch)
{
    memset(word, 0, sizeof *word);
    word->kind = effect->kind;
    word->batch = batch;
    switch (effect->kind) {
    case EFFECT_ANSWER:
        copy_answer(&word->u.told, &effect->u.answer);
        break;
    case EFFECT_CALL:
        word->u.call.id = effect->u.call.id;
        word->u.call.kind = effect->u.call.kind;
        word->u.call.addresses = effect->u.call.about.addresses;
        word->u.call.number = number_behind(core, effect->u.call.about.name);
        assert(strlen(effect->u.call.about.name) <= FM_NAME_MAX);
        strcpy(word->u.call.name, effect->u.call.about.name);
        word->u.call.tree = effect->u.call.about.tree;
        copy_text(word->u.call.step, sizeof word->u.call.step, effect->u.call.about.step);
        if (!secret_none(effect->u.call.about.token))
            copy_text(word->u.call.shown, sizeof word->u.call.shown,
                      secret_expose(effect->u.call.about.token));
        break;
    case EFFECT_LIST:
        word->u.list = effect->u.list.id;
        break;
    case EFFECT_JOBPOLL:
        word->u.jobpoll.id = effect->u.jobpoll.id;
        strcpy(word->u.jobpoll.cluster, effect->u.jobpoll.cluster);
        break;
    case EFFECT_EVENT:
        word->u.event.seq = effect->u.event->seq;
        word->u.event.number = effect->u.event->number;
        word->u.event.kind = effect->u.event->kind;
        break;
    case EFFECT_LOGIN:
        word->u.url = effect->u.login.url;
        break;
    case EFFECT_SAVE:
    case EFFECT_TRACE:
        assert(!"a word");
    }
}
