/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/jobsvc.h"
#include "node/record/report.h"
#include "node/record/reservation.h"
#include "node/services/service.h"

#include <errno.h>
#include <string.h>

/* Of services that no note knows: which are meant. */
struct search {
    const struct node *node;
    bool all;
    const struct active_vnis *active; /* NULL: they are not considered */
};

/* A job's services that were made here, once the broker has said that the job is over. */
static int clean_job(struct node *node, int64_t busy_ms, const struct claim *claim)
{
    const struct jobsvc_end end = {.known = true, .busy_ms = busy_ms};
    struct note note;
    struct error err;
    struct mcast_error error;
    if (jobsvc_lock(node, claim->cluster, claim->job, &err) < 0)
        return command_failed(&err);
    int rc = COMMAND_DONE;
    if (note_read(&node->dir, claim->number, &note, NULL) == 0) {
        if (jobsvc_destroy(node, &note, &end, &err) < 0) {
            rc = command_failed(&err);
        } else {
            rc = note.state == NOTE_LINGERING ? COMMAND_BUSY : COMMAND_DONE;
            if (report_send(node, &note, &error) == REPORT_KEPT)
                report_say_kept(&note, &error);
        }
    }
    jobsvc_unlock(node, claim);
    return rc;
}

/* What is remembered: job by job. */
static int clean_remembered(struct node *node, const struct command_options *options,
                            int64_t busy_ms)
{
    int rc = COMMAND_DONE;
    for (size_t i = 0; i < node->notes.count && rc != COMMAND_UNREACHABLE; i++) {
        struct note *note = &node->notes.at[i];
        struct error err;
        int one = COMMAND_DONE;
        if (note->state == NOTE_GONE || !note_is_current(note))
            continue; /* nothing is there; report_spool reports */
        enum reservation_state state = reservation_ask(node, &note->claim, &one);
        /* A broker can lose its ledger: what it does not know may run all the same. */
        if (state == RESERVATION_UNKNOWN && jobsvc_may_run(note)) {
            say("the broker does not know job %s, but uid %u has processes here: its services are "
                "left alone; mcast-node epilog --job %s destroys them",
                note->claim.name, note->claim.uid, note->claim.job);
            continue;
        }
        if (state != RESERVATION_OVER && state != RESERVATION_UNKNOWN) {
            rc = one == COMMAND_DONE ? rc : one;
            continue;
        }
        if (!options->dry_run)
            one = clean_job(node, busy_ms, &note->claim);
        else if (jobsvc_plan_destroy(node, note, &err) < 0)
            one = command_failed(&err);
        note->owed = false; /* it has had its turn */
        rc = rc == COMMAND_BUSY || one == COMMAND_DONE ? rc : one;
    }
    return rc;
}

/* How many of the service's VNIs are in the set; one that is not restricted to VNIs has none. */
static unsigned int count_vnis_in(const struct idset *set, const struct cxi_svc_desc *service)
{
    unsigned int count = 0;
    for (unsigned int i = 0; i < service->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++)
        count += idset_has(set, service->vnis[i]);
    return count;
}

static bool is_unknown_leftover(void *arg, const struct nic *nic,
                                const struct cxi_svc_desc *service)
{
    const struct search *search = arg;
    const struct node *node = search->node;
    bool in_pool = service_looks_ours(service) &&
                   count_vnis_in(&node->settings.pool, service) == service->num_vld_vnis;
    if (service_is_system(service) || notes_holder(&node->notes, nic->name, service->svc_id) ||
        !(search->all || in_pool))
        return false;
    for (size_t i = 0; i < node->notes.count; i++) {
        const struct claim *claim = &node->notes.at[i].claim;
        if (service_is_of(service, claim->uid, claim->vnis, claim->vni_count))
            return false; /* it was looked at as that job's */
    }
    return !search->active || count_vnis_in(&search->active->vnis, service) == 0;
}

static int destroy_meant(struct node *node, int64_t busy_ms, struct search *search)
{
    struct retry retry;
    struct services_left result;
    retry_begin(&retry, &retry_real, busy_ms);
    services_destroy(&node->nics, is_unknown_leftover, search, &retry, &result);
    for (unsigned int i = 0; i < result.left_count; i++) {
        const struct service_left *left = &result.left[i];
        say("%s: service %u cannot be destroyed: %s", left->device, left->id,
            left->failure == -EBUSY ? "a process uses it, or the NIC has to end operations"
                                    : strerror(-left->failure));
    }
    return result.left_count > 0 ? COMMAND_BUSY : COMMAND_DONE;
}

/* With no prolog at work: each has noted what it is going to make before it takes the lock, so that
 * whatever was made since the broker was asked is known by its note. */
static int destroy_locked(struct node *node, int64_t busy_ms, struct search *search)
{
    struct error err;
    if (statedir_lock(&node->dir, STATEDIR_NICS, &err) < 0)
        return command_failed(&err);
    notes_release(&node->notes);
    int rc = notes_load(&node->notes, &node->dir, &err) < 0 ? command_failed(&err)
                                                            : destroy_meant(node, busy_ms, search);
    statedir_unlock(&node->dir, STATEDIR_NICS);
    return rc;
}

/* Services without a note. */
static int clean_unknown(struct node *node, const struct command_options *options, int64_t busy_ms)
{
    struct search search = {.node = node, .all = options->all};
    struct active_vnis active;
    struct error err;
    int rc = node_find_nics(node, &err);
    if (rc < 0)
        return rc == ERROR_NOT_FOUND ? COMMAND_DONE : command_failed(&err);
    if (services_count(&node->nics, is_unknown_leftover, &search, false, NULL) == 0)
        return COMMAND_DONE;
    rc = reservation_load_active(node, &active);
    if (rc != COMMAND_GO_ON)
        return rc;
    search.active = &active;
    if (!options->dry_run)
        return destroy_locked(node, busy_ms, &search);
    (void)services_count(&node->nics, is_unknown_leftover, &search, true, NULL);
    return COMMAND_DONE;
}

static int run_clean(struct node *node, const struct command_options *options)
{
    int64_t busy_ms = options->busy_ms >= 0 ? options->busy_ms : 0;
    int unknown = clean_unknown(node, options, busy_ms);
    int remembered =
        unknown == COMMAND_UNREACHABLE ? unknown : clean_remembered(node, options, busy_ms);
    if (!options->dry_run)
        report_spool(node, 0);
    return unknown == COMMAND_BUSY || remembered == COMMAND_DONE ? unknown : remembered;
}

const struct command command_clean = {"clean", "destroy what jobs left behind", "atn",
                                      SPOOL_WRITTEN, run_clean};
