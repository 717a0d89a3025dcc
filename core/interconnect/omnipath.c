/* SPDX-License-Identifier: Apache-2.0 */
#include "core/emit.h"
#include "core/interconnect/interconnect.h"

#include <assert.h>
#include <stdio.h>

/* Omni-Path, by libfabric's providers opx and psm3: a random key a job and, if the site has any to
 * give, a partition key. All of it is environment, in the form that fi_opx(7), fi_psm3(7) and
 * fi_info -e tell; nothing is made on the nodes.
 *
 * The key (FI_OPX_UUID) keeps apart what jobs share on a node: segments of shared memory, contexts
 * of the adapter. opx does not send it, so on the fabric only the kernel's job key, which follows
 * from the uid, and the partition key keep jobs apart: two jobs of one user by the latter alone. So
 * it is held for a while after the release, for processes that do not end at once; by time, as no
 * node has anything to report of such a job. */

enum { ENDPOINTS_MIN = 2, ENDPOINTS_MAX = 8 };

uint32_t omnipath_pkeys_free(const struct core *core)
{
    const struct idset *pool = &core->config.omnipath.pkeys;
    uint32_t count = 0, left = pool->count; /* it is small, and its numbers mostly are, too */
    for (size_t i = 0; left > 0; i++) {
        assert(i < IDSET_WORDS);
        if (pool->words[i] == 0)
            continue;
        left -= (uint32_t)__builtin_popcountll(pool->words[i]);
        count += (uint32_t)__builtin_popcountll(pool->words[i] & ~core->pkeys_taken.words[i]);
    }
    return count;
}

/* The next one of the pool that no reservation has: there is one. */
static uint16_t pick_pkey(const struct core *core)
{
    const struct idset *pool = &core->config.omnipath.pkeys;
    assert(pool->count > 0);
    int at = idset_next(pool, core->pkey_after);
    while (idset_has(&core->pkeys_taken, (uint16_t)at))
        at = idset_next(pool, (uint32_t)at + 1);
    return (uint16_t)at;
}

/* Why the job gets none; NULL: it gets one. */
static const char *why_no_pkey(struct core *core, uint32_t uid)
{
    const uint32_t pool = core->config.omnipath.pkeys.count, available = omnipath_pkeys_free(core);
    assert(available <= pool);
    if (available == 0)
        return core_text(
            core,
            "all %u partition keys are in use, or quarantined after a release: run the job "
            "when others have ended, or add to [omnipath] partition_keys",
            pool);
    if (!held_too_much(&core->pkeys_held, uid, available, pool))
        return NULL;
    core->pkeys_held.refused++;
    return core_text(core,
                     "released jobs of uid %u hold %u partition keys, so others get what is free, "
                     "%u: run the job when [omnipath] partition_key_hold is over",
                     uid, held_by(&core->pkeys_held, uid), available);
}

static enum answer_kind draw_omnipath(struct core *core, struct drawing *drawing)
{
    struct reservation_record *rec = drawing->record;
    assert(rec->interconnect == INTERCONNECT_OMNIPATH);
    const enum answer_kind verdict = interconnect_draw_nothing(core, drawing);
    if (verdict != ANSWER_CREATED)
        return verdict;
    assert(strlen(secret_expose(drawing->request->key)) == JOB_KEY_LENGTH);
    rec->key = drawing->request->key;
    if (core->config.omnipath.pkeys.count == 0)
        return ANSWER_CREATED;
    drawing->detail = why_no_pkey(core, rec->uid);
    if (!drawing->detail) {
        rec->pkey = pick_pkey(core);
        core->pkey_after = (uint32_t)rec->pkey + 1;
        return ANSWER_CREATED;
    }
    core_trace(core, TRACE_WARNING, "%s-%s: %s -> refused", rec->cluster, rec->job,
               drawing->detail);
    return ANSWER_NO_PKEYS;
}

/* opx takes the digits as they are, psm3 the usual form of a UUID. */
static void tell_key(const char *key, variable_fn *each, void *arg)
{
    assert(strlen(key) == JOB_KEY_LENGTH);
    char text[JOB_KEY_LENGTH + 4 + 1];
    each(arg, "FI_OPX_UUID", key);
    (void)snprintf(text, sizeof text, "%.8s-%.4s-%.4s-%.4s-%.12s", key, key + 8, key + 12, key + 16,
                   key + 20);
    each(arg, "FI_PSM3_UUID", text);
    explicit_bzero(text, sizeof text);
}

static void tell_text(const char *name, const char *value, variable_fn *each, void *arg)
{
    assert(name && value);
    if (value[0] != '\0')
        each(arg, name, value);
}

/* A task opens one endpoint, and an endpoint has a context of its own unless it shares. */
static void tell_sharing(const struct core_config *config, const struct reservation *r,
                         variable_fn *each, void *arg)
{
    const uint32_t contexts = config->omnipath.contexts;
    char text[16];
    if (contexts == 0 || r->tasks_per_node <= contexts)
        return;
    uint32_t each_has = (r->tasks_per_node - 1) / contexts + 1;
    each_has = each_has < ENDPOINTS_MAX ? each_has : ENDPOINTS_MAX;
    assert(each_has >= ENDPOINTS_MIN);
    (void)snprintf(text, sizeof text, "%u", each_has);
    each(arg, "FI_OPX_CONTEXT_SHARING", "1");
    each(arg, "FI_OPX_ENDPOINTS_PER_HFI_CONTEXT", text);
}

static void tell_omnipath(const struct core_config *config, const char *fm_url,
                          const struct reservation *r, const char *step, variable_fn *each,
                          void *arg)
{
    assert(r->interconnect == INTERCONNECT_OMNIPATH);
    const struct omnipath_config *omnipath = &config->omnipath;
    char text[16];
    (void)fm_url, (void)step;
    if (secret_none(r->key)) /* it is released */
        return;
    tell_key(secret_expose(r->key), each, arg);
    if (r->pkey != 0) {
        (void)snprintf(text, sizeof text, "0x%04x", (unsigned)r->pkey | PKEY_FULL_MEMBER);
        each(arg, "FI_OPX_PKEY", text);
        each(arg, "PSM3_PKEY", text);
    }
    /* Not PSM3_NIC_SL: with any but 0 psm3 cannot connect over sockets. */
    if (omnipath->service_level != 0) {
        (void)snprintf(text, sizeof text, "%u", omnipath->service_level);
        each(arg, "FI_OPX_SL", text);
    }
    tell_text("FI_OPX_HFI_SELECT", omnipath->opx_hfi_select, each, arg);
    tell_text("PSM3_NIC", omnipath->psm3_nic, each, arg);
    tell_sharing(config, r, each, arg);
}

const struct interconnect interconnect_omnipath = {
    .driver = DRIVER_LAYOUT, .draw = draw_omnipath, .environment = tell_omnipath};
