/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"
#include "node/inherit.h"
#include "node/life.h"
#include "node/record/reservation.h"
#include "node/say.h"
#include "node/services/variables.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcast-node env --job JOB [--format FORMAT] [OPTIONS]\n"
    "       mcast-node env --inherit | --clear [--format FORMAT]\n"
    "Prints SLINGSHOT_VNIS, SLINGSHOT_DEVICES, SLINGSHOT_SVC_IDS and SLINGSHOT_TCS for the job's\n"
    "tasks on this node, or how to unset them when the job has no VNIs. Needs no privilege, but\n"
    "only root reads what this node remembers: run it in a hook of root's, or each task asks the\n"
    "broker.\n\n"
    "  --job JOB            the job; its reservation is what this node remembers of it, or what\n"
    "                       the broker says\n"
    "  --reservation FILE   its reservation, as for prolog\n"
    "  --inherit            take what an outer instance left in the environment, after a check;\n"
    "                       with nothing there, unset\n"
    "  --clear              unset all four\n"
    "  --format FORMAT      sh     export lines, quoted, for eval (default)\n"
    "                       json   an object; null: to be unset\n"
    "                       null   NAME=value, each ended by a NUL byte; what is to be unset is\n"
    "                              left out\n"
    "                       slurm  export and unset lines, for a TaskProlog\n\n"
    "Example, in Slurm's TaskProlog:\n"
    "  mcast-node env --job $SLURM_JOB_ID --format slurm\n"
    "Example, in a sub-instance; eval \"$(...)\" alone would go on when it failed:\n"
    "  vars=$(mcast-node env --inherit) || exit 1\n"
    "  eval \"$vars\"\n";

struct wanted {
    const char *job, *reservation;
    bool inherit, clear;
    enum variables_format format;
};

static int read_env_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    switch (option) {
    case 'j':
        wanted->job = value;
        break;
    case 'r':
        wanted->reservation = value;
        break;
    case 'i':
        wanted->inherit = true;
        break;
    case 'c':
        wanted->clear = true;
        break;
    case 'f':
        wanted->format = variables_format_from_word(value);
        if (wanted->format == VARIABLES_NONE)
            return command_misused(&command_env, "--format %.80s: sh, json, null or slurm", value);
        break;
    }
    return COMMAND_GO_ON;
}

/* The services that the job has, on whichever NICs. */
static void gather(const struct node *node, const struct claim *claim, struct variables *variables)
{
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        const struct cxi_svc_desc *service = life_service(node, claim, nic);
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
static int compare(const struct note *note, const struct variables *variables)
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
        gather(node, claim, variables);
    if (variables->service_count > 0)
        return compare(note, variables);
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

static int of_job(struct node *node, const struct wanted *wanted, const char *job,
                  struct variables *variables)
{
    struct claim claim;
    struct error err;
    if (node_remember(node, false, &err) < 0)
        return command_failed(&err);
    const struct note *note = NULL;
    if (!wanted->reservation)
        note = notes_newest(&node->notes, node->cluster, job);
    if (note && (note->state != NOTE_MADE || !note_is_current(note)))
        note = NULL;
    if (note) {
        claim = note->claim;
    } else {
        int rc = reservation_fetch(node, wanted->reservation, job, false, &claim);
        if (rc != COMMAND_GO_ON)
            return rc;
    }
    if (claim.vni_count > 0)
        return find_services(node, &claim, note, variables);
    variables->clear = true;
    return COMMAND_GO_ON;
}

static int of_environment(struct node *node, struct variables *variables)
{
    const char *given[VARIABLES_COUNT];
    struct error err;
    int rc = 0;
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        given[i] = getenv(variables_names[i]);
        if (given[i] && !given[i][0])
            given[i] = NULL;
    }
    if (inherit_anything(given))
        rc = node_find_nics(node, &err);
    if (rc == 0)
        rc = inherit_variables(variables, given, &node->nics, &err);
    return rc < 0 ? command_failed(&err) : COMMAND_GO_ON;
}

static int env(struct node *node, const struct wanted *wanted)
{
    struct variables variables = {.clear = wanted->clear};
    char job[JOB_ID_MAX + 1];
    int rc = COMMAND_GO_ON;
    if (wanted->inherit) {
        rc = of_environment(node, &variables);
    } else if (!wanted->clear) {
        rc = command_job(&command_env, wanted->job, job);
        if (rc == COMMAND_GO_ON)
            rc = of_job(node, wanted, job, &variables);
    }
    if (rc != COMMAND_GO_ON)
        return rc;
    variables_print(&variables, wanted->format, stdout);
    return COMMAND_DONE;
}

static int run_env(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {
        {"job", required_argument, NULL, 'j'},    {"reservation", required_argument, NULL, 'r'},
        {"inherit", no_argument, NULL, 'i'},      {"clear", no_argument, NULL, 'c'},
        {"format", required_argument, NULL, 'f'}, {0},
    };
    struct wanted wanted = {.format = VARIABLES_SH};
    int rc = command_options(command, node, argc, argv, options, read_env_option, &wanted);
    int ways = wanted.inherit + wanted.clear + (wanted.job || wanted.reservation);
    if (rc == COMMAND_GO_ON && ways > 1)
        rc = command_misused(command, "only one of --job, --inherit and --clear");
    if (rc == COMMAND_GO_ON)
        rc = env(node, &wanted);
    return command_end(node, rc);
}

const struct command command_env = {"env", "SLINGSHOT_* for a job's tasks", usage, run_env};
