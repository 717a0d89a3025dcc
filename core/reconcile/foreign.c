/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which VNIs other partitions of the fabric have (B2): what one answer of the fabric manager adds
 * is believed at once, as to give them out could harm others; but when it would take more than half
 * of the pool, only a second time. What an answer no longer names is kept until a later one lacks
 * it, too (B11). No job loses a VNI (F5). */

enum { NAMED_MAX = 100 };

static void take_in(const struct core *core, const struct core_event *event,
                    struct partitions *others)
{
    assert(core);
    const size_t count = event->u.partitions.count;
    for (size_t i = 0; i < count && i < PARTITIONS_MAX; i++) {
        const struct partition *one = &event->u.partitions.all[i];
        if (!core_same_text(one->name, core->config.vni_partition))
            partitions_add(others, one->name, one->vnis);
    }
}

static const char *vnis_text(struct core *core, const struct idset *vnis)
{
    assert(core);
    char *text = NULL;
    size_t size;
    FILE *out = memory_must(open_memstream(&text, &size));
    idset_print(out, vnis);
    if (fclose(out) != 0)
        (void)memory_must(NULL);
    core_discard(core, text);
    return text;
}

/* The first answer ever has nothing that it contradicts. */
static bool is_doubted(struct core *core, const struct idset *news)
{
    assert(core);
    struct foreign *foreign = &core->foreign;
    struct idset taken = *news;
    idset_keep_only(&taken, &core->vnis.pool);
    const uint32_t ours =
        core->vnis.pool.count - idset_common(&core->vnis.pool, &core->vnis.foreign);
    const bool again = foreign->doubted_ms != 0 && idset_equal(&taken, &core->vnis.doubtful) &&
                       core->now_ms - foreign->doubted_ms >= core->config.stray_grace_ms;
    const bool doubted = foreign->text && taken.count * 2 > ours && !again;
    if (!doubted) {
        foreign->doubted_ms = 0;
        idset_init(&core->vnis.doubtful);
        alarm_clear(core, ALARM_PARTITIONS, NULL);
        return false;
    }
    if (foreign->doubted_ms == 0 || !idset_equal(&taken, &core->vnis.doubtful))
        foreign->doubted_ms = core->now_ms;
    core->vnis.doubtful = taken;
    alarm_raise(core, ALARM_PARTITIONS, NULL,
                "the fabric manager says that %u of %u VNIs of [vni] pool belong to other "
                "partitions now: %.120s; this is believed when a later answer says the same, and "
                "until then they are given out last",
                taken.count, ours, vnis_text(core, &taken));
    return true;
}

/* What is known and not in this answer, but for what an earlier one lacked, too. */
static void keep_lacking(struct core *core, const struct idset *named, struct idset *kept)
{
    assert(core);
    struct foreign *foreign = &core->foreign;
    struct idset lacking = core->vnis.foreign, again = foreign->lacking;
    idset_remove_all(&lacking, named);
    idset_keep_only(&again, &lacking);
    *kept = lacking;
    if (again.count > 0 && core->now_ms - foreign->lacking_ms < core->config.stray_grace_ms) {
        foreign->lacking = again; /* what is lacking since later has its turn after these */
        return;
    }
    idset_remove_all(kept, &again);
    foreign->lacking = *kept;
    foreign->lacking_ms = core->now_ms;
}

static void merge_kept(const struct core *core, const struct idset *kept, struct partitions *others)
{
    assert(core);
    for (size_t i = 0; i < core->foreign.others.count; i++) {
        const struct partition_entry *old = &core->foreign.others.all[i];
        struct idset vnis = old->vnis;
        idset_keep_only(&vnis, kept);
        partitions_add(others, old->name, &vnis);
    }
}

static const char *first_in(const struct partitions *others, const struct idset *news,
                            const struct reservation *r, uint16_t *vni, bool *shared)
{
    assert(r);
    for (unsigned i = 0; i < r->vni_count; i++) {
        *vni = r->vnis[i];
        *shared = i >= reservation_own_vnis(r);
        if (idset_has(news, *vni))
            return partitions_of(others, *vni);
    }
    return NULL;
}

/* Jobs that run keep them (F5), and are named: those that have one by its name, too, which a ledger
 * that is older than the partition may have given them. */
static void name_users(struct core *core, const struct idset *news)
{
    assert(core);
    const struct partitions *others = &core->foreign.others;
    struct ledger_walk walk = {0};
    uint32_t jobs = 0;
    uint16_t vni;
    bool shared;
    if (idset_common(news, &core->vnis.live) == 0)
        return;
    for (const struct shared_vni *one = core->shared.first; one; one = one->next)
        if (one->record.state != SHARED_QUARANTINED && idset_has(news, one->record.vni))
            core_publish_shared(core, EVENT_VNI_FOREIGN, one,
                                core_text(core, "belongs to partition %s now, and is kept",
                                          partitions_of(others, one->record.vni)));
    for (const struct reservation *r; (r = ledger_walk(&core->ledger, &walk));) {
        const char *name = r->state == JOB_ACTIVE ? first_in(others, news, r, &vni, &shared) : NULL;
        if (!name || ++jobs > NAMED_MAX)
            continue;
        const char *detail = core_text(core, "%s %u belongs to partition %s now; the job keeps it",
                                       shared ? "shared VNI" : "VNI", vni, name);
        core_publish(core, EVENT_VNI_FOREIGN, r, detail, 0);
        core_trace_event(core, r, EVENT_VNI_FOREIGN, TRACE_WARNING,
                         "%s -> not given out again when the job has ended", detail);
    }
    if (jobs > NAMED_MAX)
        core_trace(core, TRACE_WARNING, "%u more jobs have VNIs of other partitions",
                   jobs - NAMED_MAX);
}

static void publish_change(struct core *core, const struct idset *news, const struct idset *gone)
{
    assert(core);
    if (news->count == 0 && gone->count == 0)
        return; /* names only */
    const char *detail =
        core_text(core, "%u VNIs belong to other partitions now%s%.100s; %u no longer do%s%.60s",
                  news->count, news->count > 0 ? ": " : "", vnis_text(core, news), gone->count,
                  gone->count > 0 ? ": " : "", vnis_text(core, gone));
    core_publish_cluster(core, EVENT_PARTITIONS, NULL, detail);
    core_trace(core, TRACE_NOTICE, "%s -> of [vni] pool %u are not given out", detail,
               idset_common(&core->vnis.pool, &core->vnis.foreign));
}

void core_partitions(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_PARTITIONS);
    struct partitions others = {0};
    struct idset named, kept, before = core->vnis.foreign;
    core->foreign.other = false;
    take_in(core, event, &others);
    partitions_union(&others, &named);
    struct idset news = named, gone = before;
    idset_remove_all(&news, &before);
    if (is_doubted(core, &news)) {
        partitions_release(&others);
        return;
    }
    keep_lacking(core, &named, &kept);
    merge_kept(core, &kept, &others);
    partitions_bound(&others);
    char *text = partitions_text(&others);
    core_discard(core, text);
    partitions_release(&others);
    if (core_same_text(core->foreign.text, text))
        return;
    core_save_record(core, (struct record){.kind = RECORD_PARTITIONS, .u.partitions = text});
    idset_remove_all(&gone, &core->vnis.foreign);
    publish_change(core, &news, &gone);
    name_users(core, &news);
}
