/* SPDX-License-Identifier: Apache-2.0 */
/* epilog and housekeeping: the same, with a shorter and a longer time for retries (F9). */

#include "node/commands/command.h"
#include "node/jobsvc.h"
#include "node/record/launched.h"
#include "node/record/remainder.h"
#include "node/record/report.h"
#include "node/record/reservation.h"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Of one reservation: COMMAND_DONE, COMMAND_BUSY, COMMAND_IN_USE, or COMMAND_REFUSED after a
 * message. known: there is a note of it; then it is read again, now that no other process works on
 * it. */
static int destroy_services_of(struct node *node, const struct command_options *options,
                               struct note *note, bool known)
{
    struct error err;
    struct mcast_error error;
    if (options->dry_run)
        return jobsvc_plan_destroy(node, note, &err) < 0 && known ? command_failed(&err)
                                                                  : COMMAND_DONE;
    if (jobsvc_lock(node, note->claim.cluster, note->claim.job, &err) < 0)
        return command_failed(&err);
    if (jobsvc_is_of_another(node, &note->claim, &err)) {
        say("%s", err.text);
        jobsvc_unlock(node, &note->claim);
        return COMMAND_DONE;
    }
    struct note fresh;
    bool there = note_read(&node->dir, note->claim.number, &fresh, NULL) == 0;
    const struct settings *settings = &node->settings;
    bool epilog = options->command == &command_epilog;
    const struct jobsvc_end end = {.known = there,
                                   .busy_ms = options->busy_ms >= 0 ? options->busy_ms
                                              : epilog              ? settings->epilog_ms
                                                                    : settings->housekeeping_ms};
    const bool next = options->late && !known && there && note->claim.active;
    if (there)
        *note = fresh;
    int rc = COMMAND_DONE;
    if (known && !there) {
        /* Another run has ended it, and the broker knows. */
    } else if (next) {
        /* Made since the hook ended: by a prolog of the job's next start. Of a late one of this
         * start an epilog that asks at once would not hear, either. */
    } else if (jobsvc_destroy(node, note, &end, &err) < 0) {
        rc = command_failed(&err);
    } else {
        if (note->state == NOTE_LINGERING)
            rc = remainder_judge(node, note);
        if (note->state == NOTE_LINGERING && settings->housekeeping && epilog) {
            /* Housekeeping tries again before what is left is reported (F9). Until then the VNIs
             * stay quarantined, as the node is not reported as clean. */
            note->owed = false;
            note->postponed = true;
            if (note_write(&node->dir, note, &err) < 0)
                say("%s", err.text);
        }
        if (options->within_ms < 0 && report_send(node, note, &error) == REPORT_KEPT)
            report_say_kept(note, &error);
    }
    jobsvc_unlock(node, &note->claim);
    return rc;
}

/* The worst of two outcomes: a service that stays is what the resource manager must learn. */
static int worse(int a, int b)
{
    if (a == COMMAND_BUSY || b == COMMAND_DONE)
        return a;
    return b == COMMAND_IN_USE && a != COMMAND_DONE ? a : b;
}

/* A job that nothing is remembered of: the broker, or the document, says what to look for. ended:
 * the spool says already that it has ended. */
static int destroy_unremembered(struct node *node, const struct command_options *options,
                                bool ended, uint32_t *owner)
{
    struct claim claim;
    struct error err;
    struct note note;
    int rc = reservation_fetch(node, options, true, &claim);
    /* A prolog that comes late must not take the job's launch document: its VNIs are another's. */
    if ((rc == COMMAND_NOT_FOUND || rc == COMMAND_UNREACHABLE) && !options->dry_run && !ended &&
        ended_add_job(&node->dir, node->cluster, options->job, &err) < 0)
        return command_failed(&err);
    if (rc == COMMAND_NOT_FOUND)
        return COMMAND_DONE;
    if (rc == COMMAND_UNREACHABLE)
        say("this node remembers nothing of job %s, so which services are its cannot be known "
            "without the broker or --reservation",
            options->job);
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
    jobsvc_intend(node, &claim, &note);
    return destroy_services_of(node, options, &note, false);
}

/* True in the new process, which has let go of all that the hook waits for, or could. */
static bool go_on_alone(struct node *node)
{
    const pid_t child = fork();
    if (child != 0) {
        /* Here, too: slurmd kills this group once this has ended, be the child so far or not. */
        if (child > 0)
            (void)setpgid(child, child);
        else
            say("warning: no process can be started that reports; mcast-node tend reports later");
        return false;
    }
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            (void)close(fd);
    (void)setsid(); /* slurmd kills the group of an Epilog that has ended */
    node_release(node);
    node->broker = NULL;
    node->nics_known = false;
    return true;
}

/* All that the broker is asked and told (--report-within): at a time of chance, as all nodes of the
 * job have ended now. What cannot be told stays in the spool. */
static void report_within(struct node *node, const struct command_options *options, bool remembered)
{
    struct command_options now = *options;
    uint32_t chance = 0, owner = UINT32_MAX;
    struct error err;
    if (!go_on_alone(node))
        return;
    now.within_ms = -1;
    now.late = true;
    (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK);
    const int64_t ms = chance % (options->within_ms + 1);
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0)
        ;
    if (node_remember(node, true, &err) < 0)
        return;
    if (!remembered && node->cluster)
        (void)destroy_unremembered(node, &now, true, &owner); /* tend tells what does not go */
    report_spool(node, 0);
}

static int run_epilog(struct node *node, const struct command_options *options)
{
    int rc = COMMAND_DONE;
    bool remembered = false, epilog = options->command == &command_epilog;
    uint32_t owner = UINT32_MAX; /* not known: it has left nothing */
    if (options->reporter && options->within_ms >= 0) {
        say("--report-within and --reporter exclude each other: a reporter reports at once");
        return COMMAND_USAGE;
    }
    node->reporter = options->reporter;
    for (size_t i = 0; i < node->notes.count; i++) {
        struct note note = node->notes.at[i];
        if (strcmp(note.claim.job, options->job) != 0 ||
            (node->cluster && strcmp(note.claim.cluster, node->cluster) != 0))
            continue;
        remembered = true;
        owner = note.claim.uid;
        rc = worse(rc, destroy_services_of(node, options, &note, true));
        node->notes.at[i].owed = false; /* it has had its turn */
        node->notes.at[i].postponed = true;
    }
    const bool skipped = !remembered && options->remembered;
    const bool later = options->within_ms >= 0 && !options->dry_run && !options->reservation;
    struct error err;
    if (!remembered && !skipped && later && node->cluster) {
        if (ended_add_job(&node->dir, node->cluster, options->job, &err) < 0)
            rc = worse(rc, command_failed(&err));
    } else if (!skipped && (!remembered || options->reservation)) {
        rc = worse(rc, destroy_unremembered(node, options, false, &owner));
    }
    node->reporter = NULL; /* it is asked for this job */
    if (options->dry_run)
        return rc;
    /* What an earlier job of its owner left may have been used by this one. While a further one may
     * use it, this job's hooks have nothing more to do. */
    if (remainder_retry(node, epilog ? REMAINDER_OF_OWNER : REMAINDER_DUE, owner) == COMMAND_BUSY)
        rc = COMMAND_BUSY;
    if (later)
        report_within(node, options, remembered || skipped);
    else
        report_spool(node, 0);
    return skipped && (epilog || rc == COMMAND_DONE) ? COMMAND_NOT_FOUND : rc;
}

const struct command command_epilog = {"epilog", "destroy a job's services", "j!rtTMWn",
                                       SPOOL_WRITTEN, run_epilog};
const struct command command_housekeeping = {"housekeeping", "destroy what the epilog could not",
                                             "j!rtMn", SPOOL_WRITTEN, run_epilog};
