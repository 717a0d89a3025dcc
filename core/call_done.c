#include "core/inside.h"

#include <string.h>

/* What came of a call of the fabric manager. */

/* Waits between tries of a call: a reserve has little time, a release has all of it. */
enum {
    RESERVE_RETRY_MS = 250,
    RELEASE_RETRY_MS = 500,
    RELEASE_RETRY_MAX_MS = 30 * 1000,
};

static int64_t backoff(const struct reservation *r)
{
    if (r->hwcoll == HWCOLL_WANTED)
        return RESERVE_RETRY_MS;
    uint32_t doublings = r->errand->tries < 6 ? r->errand->tries : 6;
    int64_t wait = (int64_t)RELEASE_RETRY_MS << doublings;
    return wait < RELEASE_RETRY_MAX_MS ? wait : RELEASE_RETRY_MAX_MS;
}

static void again_later(struct core *core, struct reservation *r, int64_t at_ms)
{
    r->errand->retry_ms = at_ms;
    r->errand->tries++;
    core_act(core, r);
}

static void set_side(struct core *core, struct reservation *r, enum fm_side side)
{
    if (r->fm_side == (uint8_t)side)
        return;
    struct reservation_record rec = reservation_record(r);
    rec.fm_side = (uint8_t)side;
    (void)core_save(core, &rec);
}

/* A definite no to RESERVE; but an earlier try may have been, or may yet be, acted on. */
static enum fm_side side_after_no(const struct reservation *r)
{
    return r->errand->unsure ? FM_MAYBE : FM_NOTHING;
}

/* A yes to RESERVE. While an earlier try may yet be acted on, the record says no more than "maybe":
 * so that after a crash, too, the release is asked for once more when that has settled. */
static enum fm_side side_after_yes(const struct reservation *r)
{
    return r->errand->unsure ? FM_MAYBE : FM_HELD;
}

static void reserve_done(struct core *core, struct reservation *r, enum fmcall_outcome outcome,
                         const char *token, const char *words)
{
    bool wanted = r->hwcoll == HWCOLL_WANTED;
    switch (outcome) {
    case FM_OK:
        if (wanted) {
            core_settle(core, r, HWCOLL_RESERVED, side_after_yes(r), token, NULL);
            return;
        }
        core_trace(core, TRACE_NOTICE, "%s-%s: reserved late, nobody wants it any more -> release",
                   r->cluster, r->job);
        set_side(core, r, side_after_yes(r));
        core_act(core, r);
        return;
    case FM_EXISTS:
        core_trace(core, TRACE_NOTICE,
                   "%s-%s: the fabric manager has one under this name already -> release it first",
                   r->cluster, r->job);
        set_side(core, r, wanted ? FM_HELD : side_after_yes(r));
        core_act(core, r);
        return;
    case FM_UNREACHED:
    case FM_UNAUTHORIZED:
        /* Surely not acted on: forget that this try was made. */
        if (wanted)
            core_settle(core, r, HWCOLL_UNAVAILABLE, side_after_no(r), NULL, words);
        else if (r->fm_side == FM_MAYBE) {
            set_side(core, r, side_after_no(r));
            core_act(core, r);
        }
        return;
    case FM_DENIED:
    case FM_GONE: /* a 404 to POST: this fabric manager has no such path */
        if (wanted)
            core_settle(core, r, HWCOLL_DENIED, side_after_no(r), NULL, words);
        else {
            set_side(core, r, side_after_no(r));
            core_act(core, r);
        }
        return;
    case FM_BUSY:
    case FM_TIMEOUT:
    case FM_BROKEN:
        r->errand->unsure = true;
        r->errand->reserve_settles_ms = core->now_ms + core->config.call_timeout_ms;
        again_later(core, r, wanted ? core->now_ms + backoff(r) : core->now_ms);
        return;
    }
}

/* F22: gone from the fabric manager while the job is active. Once only: the state says so. */
static void lose(struct core *core, struct reservation *r, enum fm_side side, const char *reason)
{
    core_trace(core, TRACE_WARNING, "%s-%s: %s -> lost, its job is told", r->cluster, r->job,
               reason);
    struct reservation_record rec = reservation_record(r);
    rec.hwcoll = HWCOLL_LOST;
    rec.fm_side = (uint8_t)side;
    rec.token = NULL;
    rec.reason = reason;
    (void)core_save(core, &rec);
    core_publish(core, EVENT_LOST, r, reason);
    core_act(core, r);
}

/* Both are secrets: the time it takes does not depend on where they differ. */
static bool same_token(const char *a, const char *b)
{
    size_t length = strlen(a);
    if (strlen(b) != length)
        return false;
    unsigned char differ = 0;
    for (size_t i = 0; i < length; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

static void check_done(struct core *core, struct reservation *r, enum fmcall_outcome outcome,
                       const char *token)
{
    if (r->hwcoll != HWCOLL_RESERVED || r->state != JOB_ACTIVE) {
        core_act(core, r);
    } else if (outcome == FM_GONE) {
        r->errand->doubted = false;
        lose(core, r, FM_NOTHING, "the fabric manager no longer has its reservation");
    } else if (outcome == FM_OK && r->token != NULL && token != NULL &&
               !same_token(r->token, token)) {
        r->errand->doubted = false;
        lose(core, r, r->fm_side, "the fabric manager has another reservation under its name");
    } else if (outcome == FM_OK) {
        r->errand->doubted = false;
        r->errand->tries = 0;
        core_act(core, r);
    } else {
        again_later(core, r, core->now_ms + backoff(r));
    }
}

static void released_at_fm(struct core *core, struct reservation *r)
{
    struct errand *e = r->errand;
    if (r->hwcoll != HWCOLL_WANTED && e->sent_ms < e->reserve_settles_ms) {
        /* A RESERVE that was given up may still be acted on, after this: ask again then. */
        e->retry_ms = e->reserve_settles_ms;
        core_act(core, r);
        return;
    }
    if (e->sent_ms >= e->reserve_settles_ms)
        e->unsure = false;
    e->tries = 0;
    e->retry_ms = 0;
    set_side(core, r, r->hwcoll == HWCOLL_WANTED ? FM_MAYBE : FM_NOTHING);
    core_act_on_lives(core, r->cluster, r->job);
}

static void release_done(struct core *core, struct reservation *r, enum fmcall_outcome outcome,
                         const char *words)
{
    if (outcome == FM_OK || outcome == FM_GONE) {
        released_at_fm(core, r);
        return;
    }
    if (fmcall_unsure(outcome))
        r->errand->release_settles_ms = core->now_ms + core->config.call_timeout_ms;
    int64_t wait = backoff(r);
    if (outcome == FM_DENIED || outcome == FM_EXISTS)
        core_trace(core, TRACE_WARNING,
                   "%s-%s: the fabric manager refuses its release: %s -> again "
                   "in %lld ms",
                   r->cluster, r->job, words, (long long)wait);
    again_later(core, r, core->now_ms + wait);
}

void core_call_done(struct core *core, uint64_t id, enum fmcall_outcome outcome, const char *token,
                    const char *words)
{
    enum fmcall_kind kind;
    struct errand *e = callqueue_end(&core->calls, id, &kind);
    if (e == NULL) {
        core_trace(core, TRACE_WARNING, "an answer to call %llu, which is not under way -> ignored",
                   (unsigned long long)id);
        return;
    }
    int64_t sent_ms = e->sent_ms;
    if (words == NULL)
        words = fmcall_outcome_word(outcome);

    if (kind == FMCALL_RESERVE)
        reserve_done(core, e->owner, outcome, token, words);
    else if (kind == FMCALL_CHECK)
        check_done(core, e->owner, outcome, token);
    else
        release_done(core, e->owner, outcome, words);

    /* What was sent before the link was lost says nothing of the link that there is now. */
    if (sent_ms < core->link.lost_ms)
        return;
    /* Last: a lost link makes every job that waits give up, this one was to have its answer first.
     */
    if (outcome == FM_BROKEN || outcome == FM_UNREACHED || outcome == FM_UNAUTHORIZED)
        link_lost(core, words);
    else if (outcome == FM_TIMEOUT)
        link_unheard(core, words);
    else
        link_heard(core);
}
