/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/jobsvc.h"
#include "node/record/launched.h"
#include "node/record/reservation.h"
#include "node/services/variables.h"

#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

enum { UID_NOBODY = 65534 };

/* The services that the job has, on whichever NICs. */
static void gather_services(const struct node *node, const struct claim *claim,
                            struct variables *variables)
{
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        const struct cxi_svc_desc *service = jobsvc_on(node, claim, nic);
        if (nic->failure < 0)
            say("warning: %s cannot be asked for its services: %s", nic->name,
                strerror(-nic->failure));
        else if (service)
            variables_add(variables, nic->name, service);
        else
            say("warning: %s has no service of job %s", nic->name, claim->job);
    }
    variables->vni_count = claim->vni_count;
    memcpy(variables->vnis, claim->vnis, sizeof variables->vnis);
}

/* What the prolog made must still be there: else tasks on some NICs would fail one by one. */
static int compare_with_note(const struct note *note, const struct variables *variables)
{
    for (unsigned int i = 0; note && i < note->service_count; i++) {
        bool there = false;
        for (unsigned int s = 0; s < variables->service_count; s++)
            there |= strcmp(variables->services[s].device, note->services[i].device) == 0;
        if (!there) {
            say("service %u of %s, which was made for job %s, is not there any more; run the job "
                "again",
                note->services[i].id, note->services[i].device, note->claim.job);
            return COMMAND_REFUSED;
        }
    }
    return COMMAND_GO_ON;
}

static int find_services(struct node *node, const struct claim *claim, const struct note *note,
                         struct variables *variables)
{
    const struct settings *settings = &node->settings;
    struct error err;
    int rc = node_find_nics(node, &err);
    if (rc < 0 && rc != ERROR_NOT_FOUND)
        return command_failed(&err);
    if (rc == 0)
        gather_services(node, claim, variables);
    if (variables->service_count > 0)
        return compare_with_note(note, variables);
    /* As prolog decides: a job that is to have none must not be given what is left of another. */
    variables->clear = (rc < 0 || node->nics.count == 0) && settings->min_nics == 0;
    variables->clear |= claim->node_count == 1 && !settings->single_node;
    if (variables->clear)
        return COMMAND_GO_ON;
    if (rc < 0)
        return command_failed(&err);
    say("no NIC of this node has a service for job %s (uid %u); has mcast-node prolog run here?",
        claim->job, claim->uid);
    return COMMAND_REFUSED;
}

/* By the launch document, by what this node remembers, or by the broker. *note: what is remembered
 * of it, or NULL. */
static int find_claim(struct node *node, const struct command_options *options,
                      struct launch *launch, struct claim *claim, const struct note **note)
{
    struct error err;
    if (!options->reservation)
        *note = notes_newest(&node->notes, node->cluster, options->job);
    if (*note && ((*note)->state != NOTE_MADE || !note_is_current(*note)))
        *note = NULL;
    if (options->launch) {
        const int rc = launched_read(node, options, launch);
        if (rc == COMMAND_GO_ON && launched_claim(launch, claim, &err) < 0)
            return command_failed(&err);
        if (*note && (*note)->claim.number != claim->number)
            *note = NULL;
        return rc;
    }
    if (!*note)
        return reservation_fetch(node, options, false, claim);
    *claim = (*note)->claim;
    return COMMAND_GO_ON;
}

/* Whether this user, of no group, can read it: root asks here, and libfabric runs as the owner. */
static bool can_read(uint32_t uid, const char *path)
{
    if (geteuid() == 0) {
        (void)setgroups(0, NULL); /* for good: root needs none here */
        (void)setfsgid(UID_NOBODY);
        (void)setfsuid(uid);
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0)
        (void)close(fd);
    if (geteuid() == 0) {
        (void)setfsuid(0);
        (void)setfsgid(getegid());
    }
    return fd >= 0;
}

/* As mcastctl's env: libfabric looks without end for a CA that is not here. */
static void settle_ca(json_t *tasks, uint32_t uid)
{
    static const char name[] = "FI_CXI_COLL_FABRIC_MGR_CACERT";
    const char *path = json_string_value(json_object_get(tasks, name));
    if (!path || (mcast_env_cacert_usable(path) && (path[0] != '/' || can_read(uid, path))))
        return;
    say("warning: there is no file or folder %.200s here that uid %u can read, so %s is \"yes\", "
        "the system's store; put the fabric manager's CA there, readable by all",
        path, (unsigned)uid, name);
    (void)json_object_set_new(tasks, name, json_string("yes"));
}

static int read_job(struct node *node, const struct command_options *options, struct launch *launch,
                    struct variables *variables)
{
    struct claim claim;
    struct error err;
    const struct note *note = NULL;
    if (node_remember(node, false, &err) < 0)
        return command_failed(&err);
    int rc = find_claim(node, options, launch, &claim, &note);
    if (rc != COMMAND_GO_ON)
        return rc;
    settle_ca(launch->tasks, claim.uid);
    variables->tasks = launch->tasks;
    if (claim.vni_count > 0)
        return find_services(node, &claim, note, variables);
    variables->clear = true;
    return COMMAND_GO_ON;
}

/* Only what is shown to be wrong is taken away: libcxi may not be in this container, and the outer
 * job another resource manager's. */
static int read_environment(struct node *node, struct variables *variables)
{
    const char *given[VARIABLES_COUNT];
    struct error err;
    bool some = false, wrong = false;
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        given[i] = getenv(variables_names[i]);
        if (given[i] && !given[i][0])
            given[i] = NULL;
        some |= given[i] != NULL;
    }
    int rc = some ? node_find_nics(node, &err) : 0;
    if (rc == 0 && some && node->nics.count == 0)
        rc = error_set(&err, ERROR_NOT_FOUND, "no NIC can be seen here");
    if (rc == 0) {
        rc = variables_inherit(variables, given, &node->nics, &err);
        wrong = rc == ERROR_INVALID;
    }
    if (rc < 0 && !wrong && variables_pass(variables, given)) {
        say("warning: SLINGSHOT_* of the outer job are handed on unchecked: %s", err.text);
        rc = 0;
    }
    return rc < 0 ? command_failed(&err) : COMMAND_GO_ON;
}

static int run_env(struct node *node, const struct command_options *options)
{
    struct variables variables = {.clear = options->clear};
    struct launch launch = {0};
    int ways = options->inherit + options->clear + (options->job[0] || options->reservation);
    int rc = COMMAND_GO_ON;
    if (ways > 1)
        return command_misused(options->command, "only one of --job, --inherit and --clear");
    if (options->inherit)
        rc = read_environment(node, &variables);
    else if (!options->clear && !options->job[0])
        return command_misused(options->command, "--job JOB is required");
    else if (!options->clear)
        rc = read_job(node, options, &launch, &variables);
    if (rc == COMMAND_GO_ON) {
        variables_print(&variables, options->format, stdout);
        rc = COMMAND_DONE;
    }
    if (launch.root)
        launch_release(&launch);
    return rc;
}

const struct command command_env = {"env", "SLINGSHOT_* for a job's tasks", "jrloRuixf",
                                    SPOOL_IGNORED, run_env};
