/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/jobsvc.h"
#include "node/record/launched.h"
#include "node/record/report.h"
#include "node/record/reservation.h"
#include "node/record/unreached.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* By an earlier run: the job may have begun. */
static bool was_made(const struct node *node, const struct note *note)
{
    const struct note *before = notes_newest(&node->notes, note->claim.cluster, note->claim.job);
    return before && before->claim.number == note->claim.number && before->state == NOTE_MADE &&
           note_is_current(before);
}

/* Services whose report the broker refuses because it comes too late must not stay (F3, F10). */
static int report_creation(struct node *node, struct note *note)
{
    struct mcast_error error;
    struct error err;
    enum report_fate fate = report_send(node, note, &error);
    if (fate == REPORT_KEPT)
        report_say_kept(note, &error);
    if (fate != REPORT_NOT_OURS && fate != REPORT_UNKNOWN)
        return COMMAND_DONE;
    if (fate == REPORT_UNKNOWN && was_made(node, note) && report_spare(node, note, &error))
        return COMMAND_NOT_FOUND;
    say("the job's services are destroyed again: %s", error.text);
    if (jobsvc_destroy(node, note, &(struct jobsvc_end){.known = true}, &err) < 0)
        return command_failed(&err);
    (void)report_send(node, note, &error);
    return COMMAND_NOT_FOUND;
}

/* What only this job cannot have is kept apart from what is wrong with the node: a resource manager
 * drains the node for the one and ends the job for the other (F10). */
static int creation_failed(const struct error *err)
{
    int rc = command_failed(err);
    return err->code == ERROR_FULL ? COMMAND_UNMET : rc;
}

/* A launch document stands in for the broker, which is neither asked nor told anything: its list of
 * nodes says who may have services, until the node's word after the job. */
static int create_and_report(struct node *node, const struct claim *claim, uint32_t cores)
{
    struct note note;
    struct error err;
    struct mcast_error error;
    int rc;
    if (claim->launched_s)
        return jobsvc_create(node, claim, cores, &note, &err) < 0 ? creation_failed(&err)
                                                                  : COMMAND_DONE;
    if (jobsvc_create(node, claim, cores, &note, &err) == 0) {
        rc = report_creation(node, &note);
    } else {
        rc = creation_failed(&err);
        (void)report_send(node, &note, &error);
    }
    report_spool(node, claim->number);
    return rc;
}

/* The broker is asked under the lock: a faster epilog has reported that nothing is left here, and
 * no command would find services made after that. */
static int fetch_claim(struct node *node, const struct command_options *options,
                       struct claim *claim)
{
    struct error err;
    const char *cluster = options->reservation ? NULL : node->cluster;
    if (cluster && !options->dry_run && jobsvc_lock(node, cluster, options->job, &err) < 0)
        return command_failed(&err);
    int rc = reservation_fetch(node, options, false, claim);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (!cluster && !options->dry_run && jobsvc_lock(node, claim->cluster, options->job, &err) < 0)
        return command_failed(&err);
    if (options->reservation && !options->dry_run && ended_has(&node->dir, claim)) {
        say("the reservation of job %s that was handed over has ended on this node; run the job "
            "again, which gets another",
            claim->name);
        return COMMAND_NOT_FOUND;
    }
    if (claim->active)
        return COMMAND_GO_ON;
    say("job %s is released already, so its VNIs are not its own any more", options->job);
    return COMMAND_NOT_FOUND;
}

/* The same by a launch document; by the broker, if that is not good here: what is in it, who
 * carried it, or this node may be at fault, and the broker decides. */
static int fetch_launched(struct node *node, const struct command_options *options,
                          struct claim *claim)
{
    struct launch launch;
    struct error err;
    int rc = launched_read(node, options, &launch);
    if (rc == COMMAND_GO_ON) {
        rc = launched_claim(&launch, claim, &err) < 0 ? command_failed(&err) : COMMAND_GO_ON;
        launch_release(&launch);
    }
    if (rc == COMMAND_GO_ON && !options->dry_run) {
        if (jobsvc_lock(node, claim->cluster, claim->job, &err) < 0)
            return command_failed(&err);
        rc = launched_check_ended(node, claim);
        if (rc != COMMAND_GO_ON)
            jobsvc_unlock(node, claim);
    }
    if (rc == COMMAND_GO_ON)
        return rc;
    say("the broker is asked instead");
    rc = fetch_claim(node, options, claim);
    claim->launched_until_s = (int64_t)time(NULL) + LAUNCHED_LONGEST_S; /* it may be good later */
    return rc;
}

/* With a wrong name the node could not report what it makes, and no epilog elsewhere would look
 * here; or it speaks for another node, of which it knows nothing, as by a configuration that was
 * copied from there. */
static bool has_wrong_name(const struct node *node, const struct claim *claim)
{
    const char *slurm = secure_getenv("SLURMD_NODENAME");
    const bool copied = slurm && slurm[0] && strcmp(node->name_is, "node.conf") == 0 &&
                        strcmp(node->name, slurm) != 0;
    if (copied)
        say("this node is %s to node.conf, and %s to Slurm: correct node in node.conf, or leave it "
            "out there",
            node->name, slurm);
    else if (claim->elsewhere)
        say("this node calls itself %s (%s); job %s runs on %s: set node in node.conf, or give "
            "--node",
            node->name, node->name_is, claim->name, claim->nodes);
    return copied || claim->elsewhere;
}

static int prepare_job(struct node *node, const struct command_options *options)
{
    struct claim claim;
    struct error err;
    int rc = options->launch ? fetch_launched(node, options, &claim)
                             : fetch_claim(node, options, &claim);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (claim.vni_count == 0 || (claim.node_count == 1 && !node->settings.single_node)) {
        if (!options->dry_run && !claim.launched_s)
            report_spool(node, 0);
        return COMMAND_DONE; /* the job is to have no services */
    }
    if (has_wrong_name(node, &claim))
        return COMMAND_REFUSED;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t cores = options->cores         ? options->cores
                     : claim.cores_per_node ? claim.cores_per_node
                     : online > 0           ? (uint32_t)online
                                            : 1;
    command_limits(node, options);
    if (!options->dry_run)
        return create_and_report(node, &claim, cores);
    return jobsvc_plan_create(node, &claim, cores, &err) < 0 ? creation_failed(&err) : COMMAND_DONE;
}

static int run_prolog(struct node *node, const struct command_options *options)
{
    const int64_t began_ms = note_clock_ms();
    if (options->launch && options->reservation)
        return command_misused(options->command, "only one of --launch and --reservation");
    if (options->broker_ms >= 0)
        node->settings.busy_ms = options->broker_ms;
    const int rc = prepare_job(node, options);
    if (rc == COMMAND_UNREACHABLE && !options->dry_run)
        return unreached_judge(node, options->job, began_ms);
    if (rc == COMMAND_DONE)
        unreached_forget(node);
    return rc;
}

const struct command command_prolog = {"prolog", "create a job's services", "j!rloRucwpn",
                                       SPOOL_WRITTEN, run_prolog};
