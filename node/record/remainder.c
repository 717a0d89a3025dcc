/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/remainder.h"

#include "base/memory.h"

#include "node/commands/command.h"
#include "node/jobsvc.h"
#include "node/record/report.h"
#include "node/record/reservation.h"
#include "node/services/limits.h"

#include <stdlib.h>
#include <string.h>

/* What a hook tries of earlier jobs. */
enum { HOOK_TRIES_MAX = 4, EXCUSE_SIZE = 2 * CLAIM_NAME_SIZE + 160 };

static const char between[] = ", \t\n";

bool remainder_users_valid(const char *users)
{
    return strspn(users, "0123456789, \t\n") == strlen(users);
}

static bool has_job(const char *users, uint32_t uid)
{
    char *end;
    for (const char *at = users + strspn(users, between); *at; at = end + strspn(end, between)) {
        if (strtoul(at, &end, 10) == uid)
            return true;
    }
    return false;
}

/* Leaves out of *now those other jobs of the owner that are over by the broker's word: their
 * epilogs may never come, and nothing is lost when a node is drained for nothing. */
static void forget_ended(struct node *node, struct notes *now, const struct note *note)
{
    const struct note *other;
    int code;
    while (!note->stuck && !node->broker_gone && (other = notes_other_of_owner(now, note)) &&
           reservation_ask(node, &other->claim, &code) == RESERVATION_OVER)
        now->at[other - now->at].state = NOTE_GONE;
}

/* now: what is remembered by now, as jobs have come and gone while it was tried. */
static int judge_remainder(const struct node *node, const struct notes *now,
                           const struct note *note, char excuse[EXCUSE_SIZE])
{
    const struct note *other = note->stuck ? NULL : notes_other_of_owner(now, note);
    if (!other && (note->stuck || !node->users || !has_job(node->users, note->claim.uid)))
        return COMMAND_BUSY;
    snprintf(excuse, EXCUSE_SIZE,
             "what job %s left may be used by %s%s of uid %u: it is tried again, and its VNIs stay "
             "quarantined until it is gone",
             note->claim.name, other ? "job " : "another job", other ? other->claim.name : "",
             note->claim.uid);
    return COMMAND_IN_USE;
}

int remainder_judge(struct node *node, const struct note *note)
{
    char excuse[EXCUSE_SIZE];
    struct notes now;
    struct error err;
    if (notes_load(&now, &node->dir, &err) < 0) {
        say("%s", err.text);
        return COMMAND_BUSY;
    }
    forget_ended(node, &now, note);
    int rc = judge_remainder(node, &now, note, excuse);
    if (rc == COMMAND_IN_USE)
        say("%s", excuse);
    notes_release(&now);
    return rc;
}

/* What one run has found. */
struct round {
    struct notes now;
    int rc; /* the worst */
    unsigned int jobs, services, unreported;
    char left[JOBSVC_LEFT_TEXT_SIZE]; /* one of what is left, of those that rc is about */
    char excuse[EXCUSE_SIZE];
};

static void count_left(struct round *round, struct node *node, const struct note *note,
                       const struct services_left *result)
{
    char excuse[EXCUSE_SIZE] = "";
    int rc = judge_remainder(node, &round->now, note, excuse);
    round->jobs++;
    round->services += result->left_count;
    if (round->rc == COMMAND_BUSY || (rc == COMMAND_IN_USE && round->rc == rc))
        return;
    round->rc = rc;
    memcpy(round->excuse, excuse, sizeof excuse);
    if (result->left_count > 0)
        jobsvc_describe_left(node, note, &result->left[0], round->left);
}

/* One job's. The caller has its lock. */
static void retry_remainder(struct node *node, struct round *round, uint64_t number)
{
    struct note note;
    struct error err;
    struct mcast_error error;
    struct services_left result;
    const struct jobsvc_end end = {.known = true, .left = &result};
    if (note_read(&node->dir, number, &note, NULL) < 0 || note.state != NOTE_LINGERING ||
        note.postponed)
        return; /* another process has dealt with it since it was listed */
    if (jobsvc_destroy(node, &note, &end, &err) < 0) {
        int rc = command_failed(&err);
        round->rc = round->rc == COMMAND_BUSY ? round->rc : rc;
        return;
    }
    if (report_send(node, &note, &error) == REPORT_KEPT && round->unreported++ == 0)
        report_say_kept(&note, &error);
    if (note.state == NOTE_LINGERING)
        count_left(round, node, &note, &result);
}

static int by_try(const void *left, const void *right)
{
    const struct note *a = *(struct note *const *)left, *b = *(struct note *const *)right;
    return (a->tried_ms > b->tried_ms) - (a->tried_ms < b->tried_ms);
}

/* Adds those of the owner, or of others, which are to be tried: the longest untried first. */
static size_t choose_remainders(struct node *node, enum remainder_scope scope, uint32_t uid,
                                bool of_owner, struct note **chosen)
{
    size_t count = 0;
    const int64_t now_ms = note_clock_ms();
    for (size_t i = 0; i < node->notes.count; i++) {
        struct note *note = &node->notes.at[i];
        if (note->state == NOTE_LINGERING && !note->postponed && note_is_current(note) &&
            (note->claim.uid == uid) == of_owner &&
            (of_owner || scope == REMAINDER_ALL || note_is_due(note, now_ms)))
            chosen[count++] = note;
    }
    qsort(chosen, count, sizeof *chosen, by_try);
    return count;
}

int remainder_retry(struct node *node, enum remainder_scope scope, uint32_t uid)
{
    struct round round = {.rc = COMMAND_DONE};
    struct error err;
    struct note **chosen = memory_zeroed((node->notes.count + 1) * sizeof *chosen);
    size_t count = choose_remainders(node, scope, uid, true, chosen);
    if (scope != REMAINDER_OF_OWNER)
        count += choose_remainders(node, scope, uid, false, chosen + count);
    if (scope != REMAINDER_ALL && count > HOOK_TRIES_MAX)
        count = HOOK_TRIES_MAX;
    if (count > 0 && notes_load(&round.now, &node->dir, &err) < 0) {
        round.rc = command_failed(&err);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!jobsvc_try_lock(node, &chosen[i]->claim))
            continue;
        retry_remainder(node, &round, chosen[i]->claim.number);
        jobsvc_unlock(node, &chosen[i]->claim);
        chosen[i]->owed = false; /* it has had its turn */
    }
    if (round.services == 1)
        say("%s", round.left);
    else if (round.services > 1)
        say("%s; in all %u services of %u earlier job%s could not be destroyed", round.left,
            round.services, round.jobs, round.jobs == 1 ? "" : "s");
    if (round.rc == COMMAND_IN_USE)
        say("%s", round.excuse);
    notes_release(&round.now);
    free(chosen);
    return round.rc;
}

/* ---- What a further job of the owner may have ---- */

static const char next_step[] =
    "end the processes that use them, which mcast-node list and ps show, or run the job on other "
    "nodes";

static bool is_leftover(const struct note *note, const struct claim *claim)
{
    return note->state == NOTE_LINGERING && note->claim.uid == claim->uid &&
           note->claim.number != claim->number && note_is_current(note);
}

static int check_shares_of_nic(const struct notes *notes, const struct nic *nic,
                               const struct claim *claim, struct error *err)
{
    for (int i = 0; i < LIMITS_COUNT; i++) {
        enum cxi_rsrc_type type = limits_resources[i].type;
        uint32_t reserved = 0, total = limits_total(&nic->info, type);
        for (unsigned int s = 0; nic->services && s < nic->services->count; s++) {
            const struct cxi_svc_desc *service = &nic->services->descs[s];
            const struct note *note = notes_holder(notes, nic->name, service->svc_id);
            if (note && is_leftover(note, claim))
                reserved += limits_reserved(service, type);
        }
        if ((uint64_t)reserved * REMAINDER_PART > total)
            return error_set(err, ERROR_FULL,
                             "%s: services of earlier jobs of uid %u that are still in use hold "
                             "%u of its %u %s, more than an eighth: %s",
                             nic->name, claim->uid, reserved, total, limits_resources[i].words,
                             next_step);
    }
    return 0;
}

int remainder_check(const struct notes *notes, const struct nics *nics, const struct claim *claim,
                    struct error *err)
{
    unsigned int jobs = 0;
    int rc = 0;
    for (size_t i = 0; i < notes->count; i++)
        jobs += is_leftover(&notes->at[i], claim);
    if (jobs > REMAINDER_JOBS_MAX)
        return error_set(err, ERROR_FULL,
                         "services of %u earlier jobs of uid %u are still in use on this node, and "
                         "more than %u are too many: %s",
                         jobs, claim->uid, (unsigned)REMAINDER_JOBS_MAX, next_step);
    for (unsigned int i = 0; rc == 0 && jobs > 0 && i < nics->count; i++)
        rc = check_shares_of_nic(notes, &nics->at[i], claim, err);
    return rc;
}
