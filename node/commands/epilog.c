/* SPDX-License-Identifier: Apache-2.0 */
/* epilog and housekeeping: the same, with a shorter and a longer time for retries (F9). */

#include "node/commands/command.h"
#include "node/life.h"
#include "node/record/remainder.h"
#include "node/record/report.h"
#include "node/record/reservation.h"
#include "node/say.h"

#include <stdlib.h>
#include <string.h>

static const char epilog_usage[] =
    "Usage: mcast-node epilog --job JOB [OPTIONS]\n"
    "After a job's last process: destroys the job's services on this node, and no others, and\n"
    "reports that to the broker, now or when it can be reached again. For a job that has none,\n"
    "there is nothing to do. What is busy for longer is left to housekeeping. Services of a few\n"
    "earlier jobs of its owner that were in use when these ended are tried once more. Exit\n"
    "status 5 says to drain the node; 7, that another job of the owner may use what is left,\n"
    "and the node is to go on.\n\n"
    "  --job JOB            the job\n"
    "  --reservation FILE   its reservation, as for prolog, for a node that does not remember it\n"
    "                       and cannot ask the broker\n"
    "  --retry-busy TIME    how long to retry while services are busy (default: node.conf, 5s)\n"
    "  --dry-run            only says what it would destroy\n\n"
    "Example:\n"
    "  mcast-node epilog --job f2Rs8sydSxmd --retry-busy 1m\n";

static const char housekeeping_usage[] =
    "Usage: mcast-node housekeeping --job JOB [OPTIONS]\n"
    "As epilog, with more time for what is still busy, and now and then for a few services of\n"
    "earlier jobs of any user. Exit status 5 says to drain the node; 7 does not.\n\n"
    "  --job JOB            the job\n"
    "  --reservation FILE   its reservation, as for prolog\n"
    "  --retry-busy TIME    how long to retry while services are busy (default: node.conf, 5m)\n"
    "  --dry-run            only says what it would destroy\n\n"
    "Example, in Flux's housekeeping, which has the id in decimal:\n"
    "  mcast-node housekeeping --job $(flux job id --to=f58plain $FLUX_JOB_ID)\n";

struct wanted {
    const struct command *command;
    struct command_subject subject;
    int64_t retry_ms; /* negative: not given */
};

static int read_epilog_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    if (option == 't')
        return command_duration(wanted->command, "--retry-busy", value, &wanted->retry_ms);
    command_take_subject(&wanted->subject, option, value);
    return COMMAND_GO_ON;
}

/* Whether housekeeping tries again before what is left is reported (F9). */
static bool is_housekeeping_s(const struct node *node, const struct wanted *wanted,
                              const struct note *note)
{
    return note->state == NOTE_LINGERING && node->settings.housekeeping &&
           wanted->command == &command_epilog;
}

/* The VNIs stay quarantined: the node is not reported as clean. */
static void postpone(struct node *node, struct note *note)
{
    struct error err;
    note->owed = false;
    note->postponed = true;
    if (note_write(&node->dir, note, &err) < 0)
        say("%s", err.text);
}

/* One life: COMMAND_DONE, COMMAND_BUSY, COMMAND_IN_USE, or COMMAND_REFUSED after a message. known:
 * there is a note of it; then it is read again, now that no other process works on it. */
static int destroy_life(struct node *node, const struct wanted *wanted, struct note *note,
                        bool known)
{
    struct error err;
    struct mcast_error error;
    if (wanted->subject.dry_run)
        return life_plan_destroy(node, note, &err) < 0 && known ? command_failed(&err)
                                                                : COMMAND_DONE;
    if (life_lock(node, note->claim.cluster, note->claim.job, &err) < 0)
        return command_failed(&err);
    struct note fresh;
    bool there = note_read(&node->dir, note->claim.number, &fresh, NULL) == 0;
    if (there)
        *note = fresh;
    int rc = COMMAND_DONE;
    if (known && !there) {
        /* Another run has ended it, and the broker knows. */
    } else if (life_destroy(node, note, there, wanted->retry_ms, &err) < 0) {
        rc = command_failed(&err);
    } else {
        if (note->state == NOTE_LINGERING)
            rc = remainder_judge(node, note);
        if (is_housekeeping_s(node, wanted, note))
            postpone(node, note);
        if (report_send(node, note, &error) == REPORT_KEPT)
            report_say_kept(note, &error);
    }
    life_unlock(node, &note->claim);
    return rc;
}

/* The worst of two outcomes: a service that stays is what the resource manager must learn. */
static int worse(int a, int b)
{
    if (a == COMMAND_BUSY || b == COMMAND_DONE)
        return a;
    return b == COMMAND_IN_USE && a != COMMAND_DONE ? a : b;
}

static bool is_of_job(const struct node *node, const struct note *note, const char *job)
{
    return strcmp(note->claim.job, job) == 0 &&
           (!node->cluster || strcmp(note->claim.cluster, node->cluster) == 0);
}

/* A job that nothing is remembered of: the broker, or the document, says what to look for. */
static int destroy_unremembered(struct node *node, const struct wanted *wanted, const char *job,
                                uint32_t *owner)
{
    struct claim claim;
    struct error err;
    struct note note;
    int rc = reservation_fetch(node, wanted->subject.reservation, job, true, &claim);
    if (rc == COMMAND_NOT_FOUND)
        return COMMAND_DONE;
    if (rc == COMMAND_UNREACHABLE)
        say("this node remembers nothing of job %s, so which services are its cannot be known "
            "without the broker or --reservation",
            job);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (claim.vni_count == 0)
        return COMMAND_DONE;
    *owner = claim.uid;
    /* Not made here; and what else has these VNIs is not to be destroyed for a false broker. */
    if (claim_check_vnis(&claim, &node->settings.vnis, &err) < 0) {
        say("%s", err.text);
        return COMMAND_DONE;
    }
    life_intend(node, &claim, &note);
    return destroy_life(node, wanted, &note, false);
}

static int epilog(struct node *node, const struct wanted *wanted, const char *job)
{
    struct error err;
    if (node_remember(node, !wanted->subject.dry_run, &err) < 0)
        return command_failed(&err);
    int rc = COMMAND_DONE;
    bool remembered = false;
    uint32_t owner = UINT32_MAX; /* not known: it has left nothing */
    for (size_t i = 0; i < node->notes.count; i++) {
        struct note note = node->notes.at[i];
        if (!is_of_job(node, &note, job))
            continue;
        remembered = true;
        owner = note.claim.uid;
        rc = worse(rc, destroy_life(node, wanted, &note, true));
        node->notes.at[i].owed = false; /* it has had its turn */
        node->notes.at[i].postponed = true;
    }
    if (!remembered || wanted->subject.reservation)
        rc = worse(rc, destroy_unremembered(node, wanted, job, &owner));
    if (wanted->subject.dry_run)
        return rc;
    /* What an earlier job of its owner left may have been used by this one. While a further one may
     * use it, this job's hooks have nothing more to do. */
    if (remainder_retry(node,
                        wanted->command == &command_epilog ? REMAINDER_OF_OWNER : REMAINDER_DUE,
                        owner) == COMMAND_BUSY)
        rc = COMMAND_BUSY;
    report_spool(node, 0);
    return rc;
}

static int run_epilog(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {
        COMMAND_SUBJECT_OPTIONS, {"retry-busy", required_argument, NULL, 't'}, {0}};
    struct wanted wanted = {.command = command, .retry_ms = -1};
    char job[JOB_ID_MAX + 1];
    int rc = command_options(command, node, argc, argv, options, read_epilog_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_job(command, wanted.subject.job, job);
    if (wanted.retry_ms < 0)
        wanted.retry_ms =
            command == &command_epilog ? node->settings.epilog_ms : node->settings.housekeeping_ms;
    if (rc == COMMAND_GO_ON)
        rc = epilog(node, &wanted, job);
    return command_end(node, rc);
}

const struct command command_epilog = {"epilog", "destroy a job's services", epilog_usage,
                                       run_epilog};
const struct command command_housekeeping = {"housekeeping", "destroy what the epilog could not",
                                             housekeeping_usage, run_epilog};
