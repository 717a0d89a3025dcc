/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interconnect/interconnect.h"
#include "core/requests/requests.h"

#include <assert.h>
#include <string.h>

/* Shared VNIs (B1): who has one made, which jobs get it, and how it ends. */

static struct shared_vni *save_shared(struct core *core, const struct shared_vni_record *rec)
{
    assert(core);
    core_save_record(core, (struct record){.kind = RECORD_SHARED_VNI, .u.shared_vni = *rec});
    return shared_by_vni(&core->shared, rec->vni);
}

static void answer_shared(struct core *core, uint64_t ticket, enum answer_kind kind,
                          const struct shared_vni *one, const char *field, const char *detail)
{
    assert(core);
    struct answer *answer = core_answer(core, ticket, kind, NULL, detail);
    answer->shared = one;
    answer->field = field;
}

/* ---- making and changing ---- */

/* False: it is answered. */
static bool check_pace(struct core *core, uint64_t ticket, const struct share_request *q)
{
    assert(core);
    if (q->admin || shared_allow(&core->shared, q->uid, core->now_ms))
        return true;
    answer_shared(core, ticket, ANSWER_TOO_OFTEN, NULL, NULL,
                  core_text(core,
                            "uid %u has made and changed shared VNIs too often (%d at once, then "
                            "one in %d s): try again then",
                            q->uid, SHARED_CHANGES_AT_ONCE, SHARED_CHANGE_EVERY_MS / 1000));
    return false;
}

static void change_shared(struct core *core, uint64_t ticket, const struct share_request *q,
                          struct shared_vni *one)
{
    assert(core);
    struct shared_vni_record rec = one->record;
    const bool same = strcmp(rec.users, q->users) == 0 && strcmp(rec.clusters, q->clusters) == 0 &&
                      rec.expires_ms == q->expires_ms;
    if (!q->admin && rec.uid != q->uid) {
        answer_shared(core, ticket, ANSWER_CONFLICT, NULL, "name",
                      core_text(core, "the name %s is taken: choose another one", rec.name));
        return;
    }
    if (rec.state == SHARED_CLOSED) {
        answer_shared(core, ticket, ANSWER_CONFLICT, NULL, "name",
                      core_text(core,
                                "%s is closed and ends with the last of %u jobs that have it: try "
                                "again then, or choose another name",
                                rec.name, one->active));
        return;
    }
    rec.users = q->users;
    rec.clusters = q->clusters;
    rec.expires_ms = q->expires_ms;
    if (!same && !check_pace(core, ticket, q))
        return;
    if (!same) {
        one = save_shared(core, &rec);
        core_publish_shared(core, EVENT_VNI_SHARED, one, "has other lists, or another time");
    }
    answer_shared(core, ticket, same ? ANSWER_SAME : ANSWER_CHANGED, one, NULL, NULL);
}

static const char *shared_bound(struct core *core, const struct share_request *q)
{
    assert(core);
    const uint32_t own = shared_of(&core->shared, q->uid);
    if (core->shared.count >= core->config.shared_max)
        return core_text(core,
                         "there are %u shared VNIs, as many as [vni] shared_max allows: remove one",
                         core->shared.count);
    if (q->admin || own < core->config.shared_per_user)
        return NULL;
    return core_text(core,
                     "uid %u has %u shared VNIs, as many as [vni] shared_per_user allows: remove "
                     "one; those that were removed count until the nodes of their jobs are clean",
                     q->uid, own);
}

void core_share(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_SHARE);
    const struct share_request *q = &event->u.share;
    struct shared_vni *one = shared_by_name(&core->shared, q->name);
    struct shared_vni_record rec = {.created_ms = core->now_ms,
                                    .expires_ms = q->expires_ms,
                                    .uid = q->uid,
                                    .state = SHARED_OPEN,
                                    .name = q->name,
                                    .users = q->users,
                                    .clusters = q->clusters};
    const char *bound = one ? NULL : shared_bound(core, q);
    if (q->expires_ms != 0 && q->expires_ms <= core->now_ms) {
        answer_shared(core, event->ticket, ANSWER_INVALID, NULL, "expires",
                      "its time would be over already: give a later one");
    } else if (one) {
        change_shared(core, event->ticket, q, one);
    } else if (bound) {
        answer_shared(core, event->ticket, ANSWER_TOO_MANY_SHARED, NULL, "name", bound);
    } else if (!check_pace(core, event->ticket, q)) {
        return;
    } else if (!vnipool_pick(&core->vnis, 1, slingshot_may_be_old(core), &rec.vni)) {
        answer_shared(core, event->ticket, ANSWER_NO_VNIS, NULL, NULL,
                      "no VNI is free: try again when jobs have ended, see mcastctl status");
    } else {
        struct facts_record facts = core->facts;
        facts.shared = 1;
        if (!core->facts.shared)
            core_save_facts(core, &facts);
        one = save_shared(core, &rec);
        core_publish_shared(core, EVENT_VNI_SHARED, one, "is shared now");
        answer_shared(core, event->ticket, ANSWER_CREATED, one, NULL, NULL);
    }
}

/* ---- its end ---- */

static bool is_expired(const struct core *core, const struct shared_vni *one)
{
    assert(core);
    const struct shared_vni_record *rec = &one->record;
    return rec->state == SHARED_OPEN && rec->expires_ms != 0 && rec->expires_ms <= core->now_ms;
}

/* One step towards its end, if it is due. May end it. */
static void settle_one(struct core *core, struct shared_vni *one)
{
    assert(core);
    struct shared_vni_record rec = one->record;
    if (is_expired(core, one)) {
        rec.state = SHARED_CLOSED;
        one = save_shared(core, &rec);
        core_trace(core, TRACE_INFO, "shared VNI %s: its time is over -> it takes no new jobs",
                   rec.name);
    }
    if (rec.state == SHARED_CLOSED && one->active == 0) {
        core_publish_shared(core, EVENT_VNI_REMOVED, one, "is removed");
        rec.state = SHARED_QUARANTINED;
        if (one->quarantined > 0)
            one = save_shared(core, &rec);
    }
    if (rec.state == SHARED_QUARANTINED && one->quarantined == 0)
        core_save_record(core,
                         (struct record){.kind = RECORD_SHARED_GONE, .u.shared_gone = rec.vni});
}

void shared_settle(struct core *core)
{
    assert(core);
    if (!core->shared.changed && shared_deadline(core) > core->now_ms)
        return;
    for (struct shared_vni *one = core->shared.first, *next; one; one = next) {
        next = one->next;
        settle_one(core, one);
    }
    core->shared.changed = false;
}

int64_t shared_deadline(const struct core *core)
{
    assert(core);
    int64_t when = INT64_MAX;
    for (const struct shared_vni *one = core->shared.first; one; one = one->next) {
        const struct shared_vni_record *rec = &one->record;
        if (rec->state == SHARED_OPEN && rec->expires_ms != 0 && rec->expires_ms < when)
            when = rec->expires_ms;
    }
    return when;
}

void core_unshare(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_UNSHARE);
    struct shared_vni *one = shared_by_name(&core->shared, event->u.unshare.name);
    if (!one) {
        answer_shared(core, event->ticket, ANSWER_NOT_FOUND, NULL, NULL,
                      "there is no shared VNI of this name");
        return;
    }
    if (one->active > 0 && !event->u.unshare.when_unused) {
        answer_shared(
            core, event->ticket, ANSWER_IN_USE, NULL, NULL,
            core_text(core,
                      "%s is in use by %u job%s: remove it after their end, or let it take "
                      "no new jobs and go with the last one (mcastctl vni remove "
                      "--when-unused; in the API ?when=unused)",
                      one->record.name, one->active, one->active == 1 ? "" : "s"));
        return;
    }
    struct shared_vni_record rec = one->record;
    rec.state = SHARED_CLOSED;
    if (one->record.state != SHARED_CLOSED)
        one = save_shared(core, &rec);
    const bool used = one->active > 0;
    core->shared.changed = true;
    shared_settle(core); /* it may be gone; the answer can show it until the next step */
    answer_shared(core, event->ticket, used ? ANSWER_CLOSING : ANSWER_REMOVED, one, NULL, NULL);
}

/* ---- a job that names some ---- */

/* What is said of one that the user may not have must not tell whether it exists. */
static enum answer_kind judge_share(struct core *core, struct drawing *drawing, const char *name,
                                    const struct shared_vni *one)
{
    assert(core);
    const struct reserve_request *q = drawing->request;
    if (!one || !shared_has_user(one, q->uid)) {
        drawing->detail = core_text(core,
                                    "there is no shared VNI \"%.32s\" that uid %u may use: check "
                                    "the name, or have its owner put the user on its list",
                                    name, q->uid);
        return ANSWER_NO_SHARED;
    }
    if (!shared_has_cluster(one, q->cluster)) {
        drawing->detail = core_text(core,
                                    "shared VNI %s is not for jobs of cluster %s: have its owner "
                                    "put the cluster on its list",
                                    one->record.name, q->cluster);
        return ANSWER_SHARED_REFUSED;
    }
    if (one->record.state != SHARED_OPEN || is_expired(core, one)) {
        drawing->detail = core_text(core,
                                    "shared VNI %s takes no new jobs: its time is over, or its "
                                    "owner has closed it",
                                    one->record.name);
        return ANSWER_SHARED_REFUSED;
    }
    if (idset_has(&core->vnis.foreign, one->record.vni)) {
        drawing->detail =
            core_text(core,
                      "shared VNI %s takes no new jobs: its VNI %u belongs to partition %s of the "
                      "fabric now; have its owner make another one",
                      one->record.name, one->record.vni,
                      partitions_of(&core->foreign.others, one->record.vni));
        return ANSWER_SHARED_REFUSED;
    }
    return ANSWER_CREATED;
}

enum answer_kind share_draw(struct core *core, struct drawing *drawing)
{
    const struct reserve_request *q = drawing->request;
    struct reservation_record *rec = drawing->record;
    assert(q->shared_count <= SHARED_VNIS_PER_JOB_MAX && rec->vni_asked <= VNI_PER_JOB_MAX);
    /* By its own, which no other has, a node tells its services from those of other jobs. While no
     * VNI is known to be free no job gets any, nor a shared one of a ledger that may be old (B11).
     */
    if (q->shared_count > 0 && rec->vni_count == 0) {
        drawing->field = "vni_count";
        drawing->detail = "shared VNIs are beside those of a job's own: ask for one at least";
        return ANSWER_INVALID;
    }
    drawing->field = "shared_vnis";
    if (rec->vni_asked + q->shared_count > VNI_PER_JOB_MAX) {
        drawing->detail = core_text(core,
                                    "%u VNIs of its own and %u shared ones are more than the %d "
                                    "that a job can have: lower vni_count",
                                    rec->vni_asked, q->shared_count, VNI_PER_JOB_MAX);
        return ANSWER_INVALID;
    }
    for (unsigned i = 0; i < q->shared_count; i++) {
        const struct shared_vni *one = shared_by_name(&core->shared, q->shared[i]);
        const enum answer_kind verdict = judge_share(core, drawing, q->shared[i], one);
        if (verdict != ANSWER_CREATED)
            return verdict;
        for (unsigned j = 0; j < rec->shared_count; j++) {
            if (rec->vnis[rec->vni_count - 1 - j] != one->record.vni)
                continue;
            drawing->detail = core_text(core, "shared VNI %s is named twice", one->record.name);
            return ANSWER_INVALID;
        }
        rec->vnis[rec->vni_count++] = one->record.vni;
        rec->shared_count++;
        rec->vni_asked++;
    }
    drawing->field = NULL;
    return ANSWER_CREATED;
}
