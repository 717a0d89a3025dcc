/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/over.h"

#include "node/commands/command.h"
#include "node/jobsvc.h"
#include "node/record/remainder.h"
#include "node/record/report.h"
#include "node/record/reservation.h"

/* tries and tried_ms of a note that does not linger: how often in a row the broker has said that
 * the job is over, and when it was asked, or first looked at. One answer ends nothing: between two
 * steps a job that runs has no process on most of its nodes (B11). */
enum { TIMES_SAID = 2, SOONER = 6 };

/* Longer than its housekeeping takes, which an epilog left it to. */
enum { HOUSEKEEPING_LATE_MS = 60000 };

static bool is_abandoned(const struct node *node, const struct note *note)
{
    return note->state == NOTE_LINGERING && note->postponed && note_is_current(note) &&
           note_clock_ms() - note->tried_ms > node->settings.housekeeping_ms + HOUSEKEEPING_LATE_MS;
}

static bool may_end(const struct note *note)
{
    return (note->state == NOTE_MADE || note->state == NOTE_INTENDED) && note_is_current(note);
}

/* Thousands of nodes run jobs, and most end as they should. */
static bool is_to_be_asked(const struct node *node, const struct note *note)
{
    const int64_t every = node->settings.missed_ms;
    if (!may_end(note))
        return is_abandoned(node, note);
    if (every == 0 || note->tried_ms == 0)
        return every > 0;
    return note_clock_ms() - note->tried_ms >= (jobsvc_may_run(note) ? every : every / SOONER);
}

static void keep_asked(struct node *node, struct note *note, unsigned int said)
{
    struct error err;
    note->tries = said;
    note->tried_ms = note_clock_ms();
    if (note_write(&node->dir, note, &err) < 0)
        say("%s", err.text);
}

/* The broker frees its VNIs by no lapse of time then (I3). That the services are there, and are not
 * to be touched yet, is what the note goes on saying. */
static void tell_lingering(struct node *node, struct note *note)
{
    struct note told = *note;
    struct mcast_error error;
    told.state = NOTE_LINGERING;
    if (!node->settings.report || note->claim.elsewhere)
        return;
    note_owe(&told);
    if (report_send(node, &told, &error) == REPORT_KEPT)
        report_say_kept(&told, &error);
    note->order = told.order;
    note->owed = false;
}

/* Whether it is over beyond doubt. What was asked is kept. */
static bool is_over(struct node *node, struct note *note, enum reservation_state state)
{
    const bool may_run = jobsvc_may_run(note);
    const bool over = state == RESERVATION_OVER || (state == RESERVATION_UNKNOWN && !may_run);
    const unsigned int said = over ? note->tries + 1 : 0;
    if (state == RESERVATION_NO_ANSWER)
        return false;
    if (said >= TIMES_SAID)
        return true;
    if (said > 0 && may_run)
        tell_lingering(node, note);
    keep_asked(node, note, said);
    return false;
}

/* The caller has the job's lock. */
static int end_job(struct node *node, struct note *note)
{
    const struct jobsvc_end end = {.known = true};
    struct error err;
    struct mcast_error error;
    say("job %s is over, and its hooks have not ended its services: they are destroyed now",
        note->claim.name);
    note->tries = 0;
    if (jobsvc_destroy(node, note, &end, &err) < 0)
        return command_failed(&err);
    if (report_send(node, note, &error) == REPORT_KEPT)
        report_say_kept(note, &error);
    return note->state == NOTE_LINGERING ? remainder_judge(node, note) : COMMAND_DONE;
}

/* The caller has the job's lock; a hook may have been here before it. */
static int look_at(struct node *node, uint64_t number)
{
    struct note note;
    int code = COMMAND_DONE;
    if (note_read(&node->dir, number, &note, NULL) < 0)
        return COMMAND_DONE;
    if (is_abandoned(node, &note))
        return end_job(node, &note);
    if (!may_end(&note))
        return COMMAND_DONE;
    if (note.tried_ms == 0) {
        keep_asked(node, &note, 0);
        return COMMAND_DONE;
    }
    const enum reservation_state state = reservation_ask(node, &note.claim, &code);
    return is_over(node, &note, state) ? end_job(node, &note) : COMMAND_DONE;
}

int over_end(struct node *node)
{
    int rc = COMMAND_DONE;
    for (size_t i = 0; i < node->notes.count && !node->broker_gone; i++) {
        struct note *note = &node->notes.at[i];
        if (!is_to_be_asked(node, note) || !jobsvc_try_lock(node, &note->claim))
            continue; /* else a hook works on it */
        const int one = look_at(node, note->claim.number);
        jobsvc_unlock(node, &note->claim);
        rc = rc == COMMAND_BUSY || one == COMMAND_DONE ? rc : one;
    }
    return rc;
}
