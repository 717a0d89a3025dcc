/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/report.h"

#include "node/record/launched.h"

#include "node/jobsvc.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In one run of a hook, and kept for later at most. A broker that is away for so long has given up
 * waiting ([vni] hold) long before. */
enum { SPOOL_RUN_MAX = 200, SPOOL_MAX = 1000 };

static int send_report(struct mcast *broker, void *arg, struct mcast_error *error)
{
    struct mcast_node_report *report = arg;
    int rc = mcast_report_node(broker, report, NULL, error);
    /* A broker of an older release refuses traffic in a report, and one before it VNIs. */
    if (rc == MCAST_REFUSED && error->status == 422 && report->traffic) {
        report->traffic = NULL;
        rc = mcast_report_node(broker, report, NULL, error);
    }
    if (rc == MCAST_REFUSED && error->status == 422 && report->vni_count > 0) {
        report->vni_count = 0;
        rc = mcast_report_node(broker, report, NULL, error);
    }
    return rc;
}

static void tell_traffic(const struct traffic *counted, struct mcast_node_traffic *out)
{
    uint64_t *const amounts[TRAFFIC_KINDS] = {[TRAFFIC_TX_OCTETS] = &out->tx_octets,
                                              [TRAFFIC_RX_OCTETS] = &out->rx_octets,
                                              [TRAFFIC_TX_PACKETS] = &out->tx_packets,
                                              [TRAFFIC_RX_PACKETS] = &out->rx_packets,
                                              [TRAFFIC_PAUSED] = &out->paused};
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        if (counted->sum.known >> kind & 1)
            *amounts[kind] = counted->sum.of[kind];
    out->seconds = counted->seconds;
    out->unclear = counted->unclear;
    out->shared = counted->shared;
    out->slowest = counted->slowest[0] ? counted->slowest : NULL;
    out->slowest_octets = counted->slowest_octets;
    out->congested = counted->congested[0] ? counted->congested : NULL;
    out->congested_paused = counted->congested_paused;
}

static int report_note(struct node *node, const struct note *note, struct mcast_error *error)
{
    struct mcast_service services[NOTE_SERVICES_MAX];
    struct mcast_node_report report = MCAST_NODE_REPORT_INIT;
    struct mcast_node_traffic traffic = MCAST_NODE_TRAFFIC_INIT;
    for (unsigned int i = 0; i < note->service_count; i++)
        services[i] =
            (struct mcast_service){.device = note->services[i].device, .id = note->services[i].id};
    report.cluster = note->claim.cluster;
    report.job = note->claim.job;
    report.number = note->claim.number;
    report.order = note->order;
    report.node = note->node;
    report.state = note_report_word(note->state);
    report.services = services;
    report.service_count = note->service_count;
    report.vnis = note->claim.vnis;
    report.vni_count = note->claim.vni_count;
    if (note->traffic.ended && note->state != NOTE_MADE) {
        tell_traffic(&note->traffic, &traffic);
        report.traffic = &traffic;
    }
    return node_ask(node, send_report, &report, node->settings.busy_ms, false, error);
}

/* The broker does not accept this node's identity, until an administrator corrects that. */
static bool is_not_authorized(const struct mcast_error *error)
{
    return error->code == MCAST_REFUSED && (error->status == 401 || error->status == 403);
}

/* The answer is not about the report itself, which may be accepted later. */
static bool may_succeed_later(const struct mcast_error *error)
{
    return error->code != MCAST_REFUSED || error->status >= 500 || error->status == 429 ||
           is_not_authorized(error);
}

static bool broker_lacks_reports(const struct mcast_error *error)
{
    return error->code == MCAST_NOT_FOUND && strcmp(error->word, "no-such-path") == 0;
}

static enum report_fate fate_of_answer(const struct note *note, int rc,
                                       const struct mcast_error *error)
{
    bool created = note->state == NOTE_MADE;
    if (rc == 0)
        return REPORT_TAKEN;
    if (broker_lacks_reports(error))
        return REPORT_REFUSED;
    if (rc == MCAST_NOT_FOUND)
        return created ? REPORT_UNKNOWN : REPORT_TAKEN;
    if (created && strcmp(error->word, "vnis-given-back") == 0)
        return REPORT_NOT_OURS;
    return may_succeed_later(error) ? REPORT_KEPT : REPORT_REFUSED;
}

static void keep_reported(struct node *node, struct note *note)
{
    struct error err;
    note->owed = false;
    if (note->state == NOTE_LINGERING)
        note->reported_ms = note_clock_ms();
    if (note_write(&node->dir, note, &err) < 0) /* it will be sent once more, which does no harm */
        say("%s", err.text);
}

static void say_refused(const struct note *note, const struct mcast_error *error)
{
    char next[NOTE_NODE_SIZE + 120];
    if (broker_lacks_reports(error))
        snprintf(next, sizeof next,
                 "it is older than node reports: update it, or set report = no in node.conf");
    else
        snprintf(next, sizeof next,
                 "its VNIs stay quarantined until [vni] hold is over, or until mcastctl fence %s "
                 "confirms that nothing of it is left",
                 note->node);
    say("the broker refused the report that the services of job %s are %s: %s; %s",
        note->claim.name, note_report_word(note->state), error->text, next);
}

/* The resource manager reports many nodes at once: PROGRAM CLUSTER JOB NUMBER NODE ends with 0 when
 * the broker has this node's word. What the node has counted comes behind it, as JSON. */
static bool reporter_takes(const struct node *node, const struct note *note)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, note->claim.number);
    struct mcast_node_traffic counted = MCAST_NODE_TRAFFIC_INIT;
    char *traffic = NULL;
    if (note->traffic.ended) {
        tell_traffic(&note->traffic, &counted);
        traffic = mcast_node_traffic_json(&counted);
    }
    const char *const argv[] = {
        node->reporter, note->claim.cluster, note->claim.job, number, note->node, traffic, NULL};
    pid_t child;
    int status = -1;
    const int rc = posix_spawn(&child, argv[0], NULL, NULL, (char *const *)argv, environ);
    free(traffic);
    if (rc != 0) {
        say("warning: %s cannot be run: %s", argv[0], strerror(rc));
        return false;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum report_fate report_send(struct node *node, struct note *note, struct mcast_error *error)
{
    if (!note->owed || !note_report_word(note->state))
        return REPORT_TAKEN;
    if (node->reporter && note->state == NOTE_GONE && reporter_takes(node, note)) {
        keep_reported(node, note);
        return REPORT_TAKEN;
    }
    int rc = report_note(node, note, error);
    enum report_fate fate = fate_of_answer(note, rc, error);
    if (fate == REPORT_REFUSED)
        say_refused(note, error);
    if (fate == REPORT_TAKEN || fate == REPORT_REFUSED)
        keep_reported(node, note);
    return fate;
}

/* The broker has their reports, and knows that they are outdated. */
static void forget_before_boot(struct node *node)
{
    for (size_t i = 0; i < node->notes.count; i++) {
        struct note *note = &node->notes.at[i];
        bool reported = !note->owed && !note->claim.launched_until_s &&
                        (note->state == NOTE_MADE || note->state == NOTE_LINGERING);
        if (note_is_current(note) || !reported || note->order >= node->boot.order ||
            strcmp(note->node, node->name) != 0 || !jobsvc_try_lock(node, &note->claim))
            continue;
        (void)note_remove(&node->dir, note->claim.number, NULL);
        jobsvc_unlock(node, &note->claim);
    }
}

static int send_boot(struct mcast *broker, void *arg, struct mcast_error *error)
{
    const struct node *node = arg;
    int rc = mcast_report_boot_time(broker, node->name, node->boot.order, note_clock_ms() / 1000,
                                    boot_time_ms() / 1000, NULL, error);
    if (rc == MCAST_REFUSED && error->status == 422) /* an older broker takes no times */
        rc = mcast_report_boot(broker, node->name, node->boot.order, NULL, error);
    return rc;
}

enum report_fate report_boot(struct node *node, struct mcast_error *error)
{
    struct error err;
    if (!node->boot.owed)
        return REPORT_TAKEN;
    int rc = node_ask(node, send_boot, node, node->settings.busy_ms, false, error);
    if (rc < 0 && may_succeed_later(error) && !broker_lacks_reports(error))
        return REPORT_KEPT;
    if (rc == 0)
        forget_before_boot(node);
    node->boot.owed = false;
    if (boot_write(&node->dir, &node->boot, &err) < 0)
        say("%s", err.text);
    return rc == 0 ? REPORT_TAKEN : REPORT_REFUSED;
}

void report_say_kept(const struct note *note, const struct mcast_error *error)
{
    say("warning: the report that the services of job %s are %s is sent later: %s",
        note->claim.name, note_report_word(note->state), error->text);
}

bool report_spare(struct node *node, struct note *note, const struct mcast_error *error)
{
    if (!jobsvc_may_run(note))
        return false;
    say("warning: job %s: %s; its owner has processes here, so its services stay until its epilog",
        note->claim.name, error->text);
    keep_reported(node, note);
    return true;
}

/* One note's. error: why it is kept. */
static enum report_fate deliver(struct node *node, uint64_t number, struct mcast_error *error)
{
    struct note note;
    struct error err;
    /* It may have changed since it was listed. */
    if (note_read(&node->dir, number, &note, NULL) < 0)
        return REPORT_TAKEN;
    if (!note_is_current(&note) && note.state != NOTE_GONE) {
        note.state = NOTE_GONE;
        if (node->settings.report)
            note_owe(&note);
        note.service_count = 0;
        if (note.claim.launched_until_s && ended_add(&node->dir, &note.claim, &err) < 0)
            say("%s", err.text);
    }
    enum report_fate fate = report_send(node, &note, error);
    if (fate == REPORT_UNKNOWN && report_spare(node, &note, error))
        return REPORT_TAKEN;
    if (fate == REPORT_NOT_OURS || fate == REPORT_UNKNOWN) {
        say("job %s: %s; its services are destroyed", note.claim.name, error->text);
        if (jobsvc_destroy(node, &note, &(struct jobsvc_end){.known = true}, &err) < 0)
            say("%s", err.text);
        else
            fate = report_send(node, &note, error);
    }
    return fate;
}

/* What one run has learned while it reported other jobs'. */
struct round {
    unsigned int asked, refused;
    bool ask_no_more;                /* the broker does not answer, or it was enough for one hook */
    const struct note *unauthorized; /* the last one that the broker did not authorize */
    struct mcast_error why;
};

/* True: the note needs no report any more. */
static bool deliver_or_keep(struct node *node, struct round *round, const struct note *note)
{
    struct mcast_error error;
    /* A node name that is not authorized for one job of a cluster is so for none of its jobs. */
    if (round->unauthorized && strcmp(round->unauthorized->node, note->node) == 0 &&
        strcmp(round->unauthorized->claim.cluster, note->claim.cluster) == 0) {
        round->refused++;
        return false;
    }
    round->ask_no_more |= node->broker_gone || round->asked == SPOOL_RUN_MAX;
    if (round->ask_no_more)
        return false;
    round->asked++;
    if (deliver(node, note->claim.number, &error) != REPORT_KEPT)
        return true;
    round->ask_no_more = !is_not_authorized(&error);
    if (!round->ask_no_more) {
        round->refused++;
        round->unauthorized = note;
        round->why = error;
    }
    return false;
}

void report_spool(struct node *node, uint64_t except)
{
    struct round round = {0};
    struct mcast_error error;
    if (node->settings.report && !node->broker_gone)
        (void)report_boot(node, &error);
    for (size_t i = 0; i < node->notes.count && node->settings.report; i++) {
        const struct note *note = &node->notes.at[i];
        uint64_t number = note->claim.number;
        bool stale = !note_is_current(note) && note->state != NOTE_GONE;
        if (number == except || !(note->owed || stale) || !jobsvc_try_lock(node, &note->claim))
            continue;
        /* Old reports are dropped, so that a broker that never comes back does not fill the disk.
         */
        if (!deliver_or_keep(node, &round, note) && node->notes.count - i > SPOOL_MAX &&
            note->state == NOTE_GONE)
            (void)note_remove(&node->dir, number, NULL);
        jobsvc_unlock(node, &note->claim);
    }
    if (round.refused > 0)
        say("warning: %u report%s of %s still refused: %s", round.refused,
            round.refused == 1 ? "" : "s",
            round.refused == 1 ? "an earlier job is" : "earlier jobs are", round.why.text);
}
