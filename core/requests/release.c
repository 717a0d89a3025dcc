/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"
#include "core/requests/requests.h"
#include "core/reservation/quarantine.h"

#include <assert.h>

/* A job is over: its VNIs are quarantined, its addresses given back in the background (F18). */

/* The token of one that was lost is no longer kept, and what is listed again may have it (B11). */
static uint64_t lost_proof(const struct core *core, const struct reservation *r)
{
    assert(r->hwcoll == HWCOLL_LOST);
    for (uint64_t seq = core->last_seq; seq >= core_first_seq(core) && seq > 0; seq--) {
        const struct event_record *event = eventlog_at(&core->events, seq);
        if (event && event->kind == EVENT_LOST && event->number == r->number)
            return event->proof;
    }
    return 0;
}

void core_begin_release(struct core *core, struct reservation *r, const char *why)
{
    assert(reservation_valid(r));
    assert(r->state == JOB_ACTIVE);
    struct reservation_record rec = reservation_record(r);
    uint64_t proof = token_proof(r->token);
    rec.fm_side = (uint8_t)core_side_unwanted(r);
    const struct operation *op = r->op;
    /* What is under its name now is not ours to delete (B11), by the fabric manager's last answer;
     * unless an earlier try of ours made it. */
    if (op && op->evidence.gone_ms != 0 && op->evidence.other_token && !op->unsure &&
        !op->retried) {
        conflict_raise(core, r->cluster, r->job, "it has another session token than ours");
        rec.fm_side = FM_SIDE_NOTHING;
    }
    if (r->op)
        missing_forget(core, r->op);
    /* What was never asked for needs no release. */
    if (r->hwcoll == HWCOLL_WANTED && !r->op->asked && r->fm_side == FM_SIDE_MAYBE)
        rec.fm_side = FM_SIDE_NOTHING;
    if (proof == 0 && core_unanswered(core, r->cluster, r->job))
        proof = PROOF_UNANSWERED;
    if (proof == 0 && r->hwcoll == HWCOLL_LOST)
        proof = lost_proof(core, r);
    rec.state = JOB_RELEASING;
    if (r->hwcoll == HWCOLL_RESERVED || r->hwcoll == HWCOLL_WANTED)
        rec.hwcoll = HWCOLL_RELEASED;
    rec.token = (struct secret){0}; /* the release itself is done with the broker's own login */
    rec.key = (struct secret){0};
    rec.released_ms = core->now_ms;
    bool by_time = core->config.vni_hold_ms != HOLD_UNTIL_REPORTED && !r->launched;
    rec.hold_until_ms = by_time ? core->now_ms + core->config.vni_hold_ms : 0;
    if (rec.vni_count > 0 || rec.pkey != 0)
        quarantine_save_clock(core);
    (void)core_save(core, &rec);
    core_publish(core, EVENT_RELEASED, r, why, proof);
    if (r->op)
        core_answer_waiters(core, &r->op->waiters, ANSWER_RELEASED, NULL,
                            "the job was released while its reserve was waiting for the fabric "
                            "manager");
    core_act(core, r);
}

/* What was found under the job's name is its Slurm's, which says that it is over. */
static void claim_found(struct core *core, struct reservation *newest)
{
    for (struct reservation *r = newest; r; r = r->older) {
        if (r->origin == ORIGIN_FOUND && r->state == JOB_RELEASING &&
            r->fm_side != FM_SIDE_NOTHING) {
            core_trace_of(core, r, TRACE_NOTICE, "Slurm's own plugin deletes it -> a leftover");
            listing_claim(core, r);
            return; /* it may have ended others */
        }
    }
}

/* Slurm's own plugin sends it for every job, also for those that it never reserved; and when it
 * says that a job is over, it means what it has made, not what hooks have reserved. */
static void release_by_plugin(struct core *core, const struct core_event *event,
                              struct reservation *r)
{
    assert(event->u.release.by_plugin);
    const uint64_t number = r ? r->number : 0;
    const bool its_own = r && (r->origin == ORIGIN_PLUGIN || reservation_adopted(r));
    if (its_own && r->state == JOB_ACTIVE)
        core_begin_release(core, r, "Slurm's own plugin says that its job is over");
    r = ledger_newest(&core->ledger, event->u.release.cluster, event->u.release.job);
    claim_found(core, r);
    r = ledger_by_number(&core->ledger, number);
    core_answer(core, event->ticket, its_own && r ? ANSWER_ACCEPTED : ANSWER_ALREADY_GONE, r, NULL);
}

/* Of what the ledger does not have: one of that name was there, or may yet come. */
static void release_unknown(struct core *core, const struct core_event *event)
{
    const char *cluster = event->u.release.cluster, *job = event->u.release.job;
    if (tombstones_get(&core->tombstones, cluster, job, core->now_ms) == TOMBSTONE_GONE) {
        core_answer(core, event->ticket, ANSWER_ALREADY_GONE, NULL, NULL);
        return;
    }
    /* Who has a number has had the answer to its reserve: no reserve is overtaken. */
    if (event->u.release.number == 0 && job_id_valid(job))
        tombstones_put(&core->tombstones, cluster, job, TOMBSTONE_NEVER_KNOWN,
                       core->now_ms + core->config.tombstone_ms);
    core_answer(core, event->ticket, ANSWER_NOT_FOUND, NULL,
                event->u.release.number == 0
                    ? core_text(core, "job %.130s of %s was never reserved", job, cluster)
                    : core_text(core, "job %.130s of %s has no reservation", job, cluster));
}

void core_release(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_RELEASE);
    const char *cluster = event->u.release.cluster, *job = event->u.release.job;
    const uint64_t number = event->u.release.number;
    assert(cluster && job);
    struct reservation *newest = ledger_newest(&core->ledger, cluster, job), *r = newest;
    if (!r && !core_cluster_config(core, cluster)) {
        core_answer_no_cluster(core, event->ticket, cluster);
        return;
    }
    if (event->u.release.by_plugin) {
        release_by_plugin(core, event, r);
        return;
    }
    if (!r) {
        release_unknown(core, event);
        return;
    }
    if (number != 0 && !(r = ledger_life(&core->ledger, cluster, job, number))) {
        core_answer(core, event->ticket, ANSWER_OTHER_LIFE, NULL,
                    core_text(core,
                              "job %.130s of %s has reservation %llu, not %llu: nothing was "
                              "released",
                              job, cluster, (unsigned long long)newest->number,
                              (unsigned long long)number));
        return;
    }
    bool over = r->state == JOB_RELEASING && r->fm_side == FM_SIDE_NOTHING;
    if (r->state == JOB_ACTIVE)
        core_begin_release(core, r, NULL);
    core_answer(core, event->ticket, over ? ANSWER_ALREADY_GONE : ANSWER_ACCEPTED, r, NULL);
}
