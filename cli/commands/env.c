/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/envformat.h"
#include "base/jobid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl env --cluster NAME [--step S] [--format FORMAT] JOB\n"
    "       mcastctl env --inherit --step S [--format FORMAT]\n"
    "Prints the environment for the tasks of a job's step. It holds the job's token: anyone who\n"
    "reads it can make and delete the job's multicast trees. What the job does not have is unset,\n"
    "so that nothing of an outer job stays.\n\n"
    "  --step S         the step: Slurm's number, or Flux's job id path\n"
    "  --inherit        take what the job that this runs in was given, with the step changed,\n"
    "                   and ask no broker\n"
    "  --format FORMAT  plain  NAME=value lines (default); what is to be unset is left out\n"
    "                   sh     export and unset lines, quoted, for eval\n"
    "                   json   an object (as --json); null: to be unset\n"
    "                   null   NAME=value, each ended by a NUL byte; what is to be unset is left\n"
    "                          out\n\n"
    "When it fails, nothing is printed; evaluating that would succeed, so look at its end "
    "first.\n\n"
    "Example:\n"
    "  vars=$(mcastctl env --cluster elcap --step 0 --format sh f2Rs8sydSxmd) || exit 1\n"
    "  eval \"$vars\"\n"
    "  vars=$(mcastctl env --inherit --step \"$FLUX_JOB_ID_PATH\" --format sh) || exit 1\n"
    "  eval \"$vars\"\n"
    "  vars=$(mcastctl env --inherit --step \"${SLURM_STEP_ID:-batch}\" --format sh) || exit 1\n"
    "  eval \"$vars\"\n";

static const char cacert_name[] = "FI_CXI_COLL_FABRIC_MGR_CACERT";

enum { JOB_SIZE = 160, STEP_SIZE = 520, NAMES_MAX = 16 };

struct wanted {
    const char *step; /* NULL: not given */
    char plain[STEP_SIZE];
    bool inherit;
    enum envformat format;
};

/* Gathered first: half an environment must never be evaluated. */
struct gathering {
    FILE *text;
    char *bytes;
    size_t length;
    enum envformat format;
    bool first, seen[NAMES_MAX]; /* by mcast_env_names */
    char unfit[128];             /* name of a variable that the format cannot carry, "" */
};

static int store_env_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    switch (option) {
    case 's':
        if (!jobid_plain_path(value, wanted->plain, sizeof(wanted->plain)))
            return command_misused(&command_env, "--step: too long for a step");
        wanted->step = wanted->plain;
        break;
    case 'i':
        wanted->inherit = true;
        break;
    case 'f':
        wanted->format = envformat_from_word(value);
        if (wanted->format == ENVFORMAT_NONE)
            return command_misused(&command_env, "--format %.80s: plain, sh, json or null", value);
        break;
    }
    return COMMAND_GO_ON;
}

static void warn_of_ca(const char *path)
{
    fprintf(stderr,
            "mcastctl: warning: there is no file or folder %.200s here, so %s is \"yes\", the "
            "system's store; put the fabric manager's CA there\n",
            path, cacert_name);
}

static int gather(const struct mcast_variable *given, void *data)
{
    struct gathering *gathering = data;
    struct mcast_variable variable = *given;
    const char *const *names = mcast_env_names();
    for (size_t i = 0; i < NAMES_MAX && names[i]; i++)
        gathering->seen[i] |= strcmp(names[i], variable.name) == 0;
    if (strcmp(variable.name, cacert_name) == 0 && variable.value &&
        !mcast_env_cacert_usable(variable.value)) {
        warn_of_ca(variable.value);
        variable.value = "yes";
    }
    bool fits = envformat_write(gathering->text, gathering->format, &variable, gathering->first);
    gathering->first = false;
    if (!fits)
        snprintf(gathering->unfit, sizeof(gathering->unfit), "%s", variable.name);
    return fits ? 0 : 1;
}

/* What the broker did not name. */
static void gather_unset(struct gathering *gathering)
{
    const char *const *names = mcast_env_names();
    for (size_t i = 0; i < NAMES_MAX && names[i]; i++) {
        if (!gathering->seen[i])
            (void)gather(&(struct mcast_variable){.name = names[i]}, gathering);
    }
}

/* Ends the gathering, and prints it if it is whole. rc: of the call that filled it. */
static int print(struct gathering *gathering, int rc, const struct mcast_error *error)
{
    if (rc == 0)
        gather_unset(gathering);
    envformat_finish(gathering->text, gathering->format, gathering->first);
    bool whole = !ferror(gathering->text);
    whole = fclose(gathering->text) == 0 && whole;
    if (rc < 0) {
        rc = command_failed(error);
    } else if (gathering->unfit[0]) {
        fprintf(stderr, "mcastctl: %s has a line break in it; use --format sh, json or null\n",
                gathering->unfit);
        rc = EXIT_REFUSED;
    } else if (!whole) {
        rc = command_print_json(NULL);
    } else {
        fwrite(gathering->bytes, 1, gathering->length, stdout);
        rc = command_finish();
    }
    free(gathering->bytes);
    return rc;
}

static int inherit(const char *step, struct gathering *gathering, struct mcast_error *error)
{
    const char *ca = getenv(cacert_name);
    int rc = mcast_env_inherit(NULL, step, gather, gathering, error);
    if (rc == 0 && ca && ca[0] && getenv("FI_CXI_COLL_JOB_ID") && !mcast_env_cacert_usable(ca))
        warn_of_ca(ca);
    return rc;
}

static int print_env(const struct common *common, struct mcast *handle, const struct wanted *wanted,
                     const char *job)
{
    struct mcast_error error;
    struct gathering gathering = {.format = wanted->format, .first = true};
    int rc;
    gathering.text = open_memstream(&gathering.bytes, &gathering.length);
    if (!gathering.text)
        return command_print_json(NULL);
    if (wanted->inherit)
        rc = inherit(wanted->step, &gathering, &error);
    else
        rc = mcast_env(handle, common->cluster, job, wanted->step, gather, &gathering, &error);
    return print(&gathering, rc, &error);
}

static int run_env(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"step", required_argument, NULL, 's'},
        {"inherit", no_argument, NULL, 'i'},
        {"format", required_argument, NULL, 'f'},
        {0},
    };
    struct wanted wanted = {0};
    struct mcast *handle = NULL;
    char job[JOB_SIZE] = "";
    int rc = command_options(command, common, argc, argv, options, store_env_option, &wanted);
    if (rc == COMMAND_GO_ON && wanted.inherit && !wanted.step)
        rc = command_misused(command, "which step? --inherit needs --step S");
    if (rc == COMMAND_GO_ON && wanted.inherit)
        rc = command_no_arguments(command, argc, argv);
    else if (rc == COMMAND_GO_ON)
        rc = command_job(command, common, argc, argv, job, sizeof(job));
    if (rc == COMMAND_GO_ON && !wanted.inherit)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (wanted.format == ENVFORMAT_NONE)
        wanted.format = common->json ? ENVFORMAT_JSON : ENVFORMAT_PLAIN;
    rc = print_env(common, handle, &wanted, job);
    mcast_close(handle);
    return rc;
}

const struct command command_env = {"env", "variables for the tasks of a step", usage, run_env};
