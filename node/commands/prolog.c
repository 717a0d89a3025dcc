/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/life.h"
#include "node/record/report.h"
#include "node/record/reservation.h"
#include "node/say.h"

#include <unistd.h>

static const char usage[] =
    "Usage: mcast-node prolog --job JOB [OPTIONS]\n"
    "Before a job's first process: creates one CXI service on every NIC, for the job's owner and\n"
    "VNIs only, with resources by its cores, and reports that. All NICs, or none. It can be\n"
    "run again. When it fails, the job must fail. So it does on a node whose name is not\n"
    "in the job's node list. Exit status 6 says that only this job cannot be here; 1, that none\n"
    "can.\n\n"
    "  --job JOB            the job\n"
    "  --reservation FILE   the reservation, as mcastctl show --json prints it, from a file, or\n"
    "                       from standard input (-); else the broker is asked\n"
    "  --cores N            the job's cores on this node (default: the reservation's\n"
    "                       cores_per_node, or all of the node's)\n"
    "  --limits WISHES      what the job wants of the NICs' resources, within node.conf, in\n"
    "                       srun's words: res_txqs=64,max_les=1024,no_adjust_limits. What cannot\n"
    "                       be is left out with a warning\n"
    "  --patience TIME      how long to retry while the broker is down or busy: 30s, 2m, or a\n"
    "                       number of seconds (default: node.conf, busy_retry)\n"
    "  --dry-run            only says what it would do\n\n"
    "Example:\n"
    "  mcast-node prolog --job f2Rs8sydSxmd --cores 96\n";

struct wanted {
    struct command_subject subject;
    const char *wishes;
    uint32_t cores;          /* 0: not given */
    int64_t broker_retry_ms; /* negative: not given */
};

static int read_prolog_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    if (option == 'c')
        return command_cores(&command_prolog, value, &wanted->cores);
    if (option == 'p')
        return command_broker_retry(&command_prolog, value, &wanted->broker_retry_ms);
    if (option == 'w')
        wanted->wishes = value;
    else
        command_take_subject(&wanted->subject, option, value);
    return COMMAND_GO_ON;
}

static uint32_t count_cores(const struct wanted *wanted, const struct claim *claim)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted->cores > 0)
        return wanted->cores;
    if (claim->cores_per_node > 0)
        return claim->cores_per_node;
    return online > 0 ? (uint32_t)online : 1;
}

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
    if (life_destroy(node, note, true, 0, &err) < 0)
        return command_failed(&err);
    (void)report_send(node, note, &error);
    return COMMAND_NOT_FOUND;
}

/* What only this job cannot have is kept apart from what is wrong with the node: a resource manager
 * drains the node for the one and ends the job for the other (F10). */
static int not_created(const struct error *err)
{
    say("%s", err->text);
    return err->code == ERROR_FULL ? COMMAND_UNMET : COMMAND_REFUSED;
}

static int create_and_report(struct node *node, const struct claim *claim, uint32_t cores)
{
    struct note note;
    struct error err;
    struct mcast_error error;
    int rc;
    if (life_create(node, claim, cores, &note, &err) == 0) {
        rc = report_creation(node, &note);
    } else {
        rc = not_created(&err);
        (void)report_send(node, &note, &error);
    }
    report_spool(node, claim->number);
    return rc;
}

/* Whether the job is to have services here at all. */
static bool is_entitled(const struct node *node, const struct claim *claim)
{
    return claim->vni_count > 0 && (claim->node_count != 1 || node->settings.single_node);
}

/* The broker is asked under the lock: a faster epilog has reported that nothing is left here, and
 * no command would find services made after that. */
static int fetch_claim(struct node *node, const struct wanted *wanted, const char *job,
                       struct claim *claim)
{
    struct error err;
    bool asks = !wanted->subject.reservation && node->cluster;
    if (node_remember(node, !wanted->subject.dry_run, &err) < 0 ||
        (asks && !wanted->subject.dry_run && life_lock(node, node->cluster, job, &err) < 0))
        return command_failed(&err);
    int rc = reservation_fetch(node, wanted->subject.reservation, job, false, claim);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (!asks && !wanted->subject.dry_run && life_lock(node, claim->cluster, job, &err) < 0)
        return command_failed(&err);
    if (claim->active)
        return COMMAND_GO_ON;
    say("job %s is released already, so its VNIs are not its own any more", job);
    return COMMAND_NOT_FOUND;
}

/* With a wrong name the node could not report what it makes, and no epilog elsewhere would look
 * here. COMMAND_GO_ON, or COMMAND_REFUSED after a message. */
static int check_node_name(const struct node *node, const struct claim *claim)
{
    char name[CLAIM_NAME_SIZE];
    if (!claim->elsewhere)
        return COMMAND_GO_ON;
    say("this node calls itself %s (%s); job %s runs on %s: set node in node.conf, or give --node",
        node->name, node->name_is, claim_name(claim, name), claim->nodes);
    return COMMAND_REFUSED;
}

static int prolog(struct node *node, const struct wanted *wanted, const char *job)
{
    struct claim claim;
    struct error err;
    int rc = fetch_claim(node, wanted, job, &claim);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (!is_entitled(node, &claim)) {
        if (!wanted->subject.dry_run)
            report_spool(node, 0);
        return COMMAND_DONE;
    }
    rc = check_node_name(node, &claim);
    if (rc != COMMAND_GO_ON)
        return rc;
    uint32_t cores = count_cores(wanted, &claim);
    command_wishes(node, wanted->wishes);
    if (!wanted->subject.dry_run)
        return create_and_report(node, &claim, cores);
    return life_plan_create(node, &claim, cores, &err) < 0 ? not_created(&err) : COMMAND_DONE;
}

static int run_prolog(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {
        COMMAND_SUBJECT_OPTIONS,
        {"cores", required_argument, NULL, 'c'},
        {"limits", required_argument, NULL, 'w'},
        {"patience", required_argument, NULL, 'p'},
        {0},
    };
    struct wanted wanted = {.broker_retry_ms = -1};
    char job[JOB_ID_MAX + 1];
    int rc = command_options(command, node, argc, argv, options, read_prolog_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_job(command, wanted.subject.job, job);
    if (wanted.broker_retry_ms >= 0)
        node->settings.busy_ms = wanted.broker_retry_ms;
    if (rc == COMMAND_GO_ON)
        rc = prolog(node, &wanted, job);
    return command_end(node, rc);
}

const struct command command_prolog = {"prolog", "create a job's services", usage, run_prolog};
