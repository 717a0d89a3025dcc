/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/services/destroy.h"
#include "node/life.h"
#include "node/services/match.h"
#include "node/record/report.h"
#include "node/say.h"
#include "node/record/standing.h"

#include <errno.h>
#include <string.h>

static const char usage[] =
    "Usage: mcast-node clean [--all] [--retry-busy TIME] [--dry-run]\n"
    "Destroys services that jobs left behind: those that this node remembers to have made, and\n"
    "those for a VNI of node.conf's pool, when the broker calls their job active no more. Never a\n"
    "system service, nor one of an active job; what cannot be known to be none is left alone.\n"
    "After a boot it reports to the broker that all earlier services are gone.\n\n"
    "  --all                every user service, also of other programs, but those of active jobs\n"
    "  --retry-busy TIME    how long to retry while services are busy (default: 0s)\n"
    "  --dry-run            only says what it would destroy\n\n"
    "Example:\n"
    "  mcast-node clean --all --dry-run\n";

struct wanted {
    bool all, dry_run;
    int64_t retry_ms;
};

/* Of services that no note knows: which are meant. */
struct search {
    const struct node *node;
    bool all;
    const struct standing *standing; /* NULL: active VNIs are not considered */
};

static int read_clean_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    switch (option) {
    case 'a':
        wanted->all = true;
        break;
    case 't':
        return command_duration(&command_clean, "--retry-busy", value, &wanted->retry_ms);
    case 'n':
        wanted->dry_run = true;
        break;
    }
    return COMMAND_GO_ON;
}

/* A job's services that were made here, once the broker has said that the job is over. */
static int clean_life(struct node *node, const struct wanted *wanted, const struct claim *claim)
{
    struct note note;
    struct error err;
    struct mcast_error error;
    if (life_lock(node, claim->cluster, claim->job, &err) < 0)
        return command_failed(&err);
    int rc = COMMAND_DONE;
    if (note_read(&node->dir, claim->number, &note, NULL) == 0) {
        if (life_destroy(node, &note, true, wanted->retry_ms, &err) < 0) {
            rc = command_failed(&err);
        } else {
            rc = note.state == NOTE_LINGERING ? COMMAND_BUSY : COMMAND_DONE;
            if (report_send(node, &note, &error) == REPORT_KEPT)
                report_say_kept(&note, &error);
        }
    }
    life_unlock(node, claim);
    return rc;
}

/* A broker can lose its ledger: what it does not know may run all the same. */
static bool may_run(const struct note *note)
{
    char name[CLAIM_NAME_SIZE];
    bool may = life_may_run(note);
    if (may)
        say("the broker does not know job %s, but uid %u has processes here: its services are left "
            "alone; mcast-node epilog --job %s destroys them",
            claim_name(&note->claim, name), note->claim.uid, note->claim.job);
    return may;
}

/* What is remembered: job by job. */
static int clean_remembered(struct node *node, const struct wanted *wanted)
{
    int rc = COMMAND_DONE;
    for (size_t i = 0; i < node->notes.count && rc != COMMAND_UNREACHABLE; i++) {
        struct note *note = &node->notes.at[i];
        struct error err;
        int one = COMMAND_DONE;
        if (note->state == NOTE_GONE || !note_is_current(note))
            continue; /* nothing is there; report_spool reports */
        enum standing_of_job is = standing_ask(node, &note->claim, &one);
        if (is == STANDING_NO_JOB && may_run(note))
            continue;
        if (is != STANDING_OVER && is != STANDING_NO_JOB) {
            rc = one == COMMAND_DONE ? rc : one;
            continue;
        }
        if (wanted->dry_run)
            one = life_plan_destroy(node, note, &err) < 0 ? command_failed(&err) : COMMAND_DONE;
        else
            one = clean_life(node, wanted, &note->claim);
        note->owed = false; /* it has had its turn */
        rc = rc == COMMAND_BUSY || one == COMMAND_DONE ? rc : one;
    }
    return rc;
}

static bool is_in_pool(const struct idset *pool, const struct cxi_svc_desc *service)
{
    for (unsigned int i = 0; i < service->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++) {
        if (!idset_has(pool, service->vnis[i]))
            return false;
    }
    return match_looks_ours(service);
}

static bool service_is_unknown_leftover(void *arg, const struct nic *nic,
                                        const struct cxi_svc_desc *service)
{
    const struct search *search = arg;
    const struct node *node = search->node;
    if (match_is_system(service) || notes_holder(&node->notes, nic->name, service->svc_id))
        return false;
    if (!search->all && !is_in_pool(&node->settings.pool, service))
        return false;
    for (size_t i = 0; i < node->notes.count; i++) {
        const struct claim *claim = &node->notes.at[i].claim;
        if (match_is_of(service, claim->uid, claim->vnis, claim->vni_count))
            return false; /* it was looked at as that job's */
    }
    return !search->standing || !standing_is_active(search->standing, service);
}

/* How many are meant; prints them, when asked to. */
static unsigned int count_meant(const struct node *node, struct search *search, bool print)
{
    unsigned int count = 0;
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        for (unsigned int s = 0; nic->services && s < nic->services->count; s++) {
            const struct cxi_svc_desc *service = &nic->services->descs[s];
            char who[MATCH_TEXT_SIZE];
            if (!service_is_unknown_leftover(search, nic, service))
                continue;
            count++;
            if (print)
                printf("%s: would destroy service %u (%s)\n", nic->name, service->svc_id,
                       match_describe(service, who));
        }
    }
    return count;
}

static int destroy_meant(struct node *node, const struct wanted *wanted, struct search *search)
{
    struct retry retry;
    struct destroy_result result;
    retry_begin(&retry, &retry_real, wanted->retry_ms);
    destroy_services(&node->nics, service_is_unknown_leftover, search, &retry, &result);
    for (unsigned int i = 0; i < result.left_count; i++) {
        const struct destroy_left *left = &result.left[i];
        say("%s: service %u cannot be destroyed: %s", left->device, left->id,
            left->failure == -EBUSY ? "a process uses it, or the NIC has to end operations"
                                    : strerror(-left->failure));
    }
    return result.left_count > 0 ? COMMAND_BUSY : COMMAND_DONE;
}

/* With no prolog at work: each has noted what it is going to make before it takes the lock, so that
 * whatever was made since the broker was asked is known by its note. */
static int destroy_alone(struct node *node, const struct wanted *wanted, struct search *search)
{
    struct error err;
    if (statedir_lock(&node->dir, STATEDIR_NICS, &err) < 0)
        return command_failed(&err);
    notes_release(&node->notes);
    int rc = notes_load(&node->notes, &node->dir, &err) < 0 ? command_failed(&err)
                                                            : destroy_meant(node, wanted, search);
    statedir_unlock(&node->dir, STATEDIR_NICS);
    return rc;
}

/* Services without a note. */
static int clean_unknown(struct node *node, const struct wanted *wanted)
{
    struct search search = {.node = node, .all = wanted->all};
    struct standing standing;
    struct error err;
    int rc = node_find_nics(node, &err);
    if (rc == ERROR_NOT_FOUND)
        return COMMAND_DONE;
    if (rc < 0)
        return command_failed(&err);
    if (count_meant(node, &search, false) == 0)
        return COMMAND_DONE;
    rc = standing_load(&standing, node);
    if (rc != COMMAND_GO_ON)
        return rc;
    search.standing = &standing;
    if (!wanted->dry_run)
        return destroy_alone(node, wanted, &search);
    (void)count_meant(node, &search, true);
    return COMMAND_DONE;
}

static int clean(struct node *node, const struct wanted *wanted)
{
    struct error err;
    if (node_remember(node, !wanted->dry_run, &err) < 0)
        return command_failed(&err);
    int unknown = clean_unknown(node, wanted);
    int remembered = unknown == COMMAND_UNREACHABLE ? unknown : clean_remembered(node, wanted);
    if (!wanted->dry_run)
        report_spool(node, 0);
    return unknown == COMMAND_BUSY || remembered == COMMAND_DONE ? unknown : remembered;
}

static int run_clean(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {
        {"all", no_argument, NULL, 'a'},
        {"retry-busy", required_argument, NULL, 't'},
        {"dry-run", no_argument, NULL, 'n'},
        {0},
    };
    struct wanted wanted = {0};
    int rc = command_options(command, node, argc, argv, options, read_clean_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = clean(node, &wanted);
    return command_end(node, rc);
}

const struct command command_clean = {"clean", "destroy what jobs left behind", usage, run_clean};
