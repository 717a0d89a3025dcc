#include "cli/command.h"
#include "cli/envformat.h"

#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: mcastctl env --cluster NAME [--step S] [--format FORMAT] JOB\n"
    "Prints the environment for the tasks of a job's step. It holds the job's token: whoever\n"
    "reads it can make and delete the job's multicast trees.\n\n"
    "  --step S         the step: Slurm's number, or Flux's job id path\n"
    "  --format FORMAT  plain  NAME=value lines (default)\n"
    "                   sh     export lines, quoted, for eval\n"
    "                   json   an object (as --json)\n"
    "                   null   NAME=value, each ended by a NUL byte\n\n"
    "Example:\n"
    "  eval \"$(mcastctl env --cluster elcap --step 0 --format sh f2Rs8sydSxmd)\"\n";

enum { JOB_SIZE = 160 };

struct wanted {
    const char *step;
    enum envformat format;
};

/* Gathered first: half an environment must never be evaluated. */
struct gathering {
    FILE *text;
    enum envformat format;
    bool first;
    char unfit[128]; /* name of a variable that the format cannot carry, "" */
};

static int take(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    switch (option) {
    case 's':
        wanted->step = value;
        break;
    case 'f':
        wanted->format = envformat_from_word(value);
        if (wanted->format == ENVFORMAT_NONE)
            return command_misused(&command_env, "--format %.80s: plain, sh, json or null", value);
        break;
    }
    return COMMAND_GO_ON;
}

static int gather(const struct mcast_variable *variable, void *data)
{
    struct gathering *gathering = data;
    bool fits = envformat_write(gathering->text, gathering->format, variable, gathering->first);
    gathering->first = false;
    if (!fits)
        snprintf(gathering->unfit, sizeof(gathering->unfit), "%s", variable->name);
    return fits ? 0 : 1;
}

static int print_env(const struct common *common, struct mcast *handle, const struct wanted *wanted,
                     const char *job)
{
    char *text = NULL;
    size_t length = 0;
    struct mcast_error error;
    struct gathering gathering = {
        .text = open_memstream(&text, &length), .format = wanted->format, .first = true};
    if (!gathering.text)
        return command_print_json(NULL);
    int rc = mcast_env(handle, common->cluster, job, wanted->step, gather, &gathering, &error);
    envformat_finish(gathering.text, wanted->format, gathering.first);
    bool whole = !ferror(gathering.text);
    whole = fclose(gathering.text) == 0 && whole;
    if (rc < 0) {
        rc = command_failed(&error);
    } else if (gathering.unfit[0]) {
        fprintf(stderr, "mcastctl: %s has a line break in it; use --format sh, json or null\n",
                gathering.unfit);
        rc = EXIT_REFUSED;
    } else if (!whole) {
        rc = command_print_json(NULL);
    } else {
        fwrite(text, 1, length, stdout);
        rc = command_finish();
    }
    free(text);
    return rc;
}

static int run(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {
        {"step", required_argument, NULL, 's'},
        {"format", required_argument, NULL, 'f'},
        {0},
    };
    struct wanted wanted = {0};
    struct mcast *handle = NULL;
    char job[JOB_SIZE];
    int rc = command_options(command, common, argc, argv, options, take, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = command_job(command, common, argc, argv, job, sizeof(job));
    if (rc == COMMAND_GO_ON)
        rc = command_open(common, &handle);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (wanted.format == ENVFORMAT_NONE)
        wanted.format = common->json ? ENVFORMAT_JSON : ENVFORMAT_PLAIN;
    rc = print_env(common, handle, &wanted, job);
    mcast_close(handle);
    return rc;
}

const struct command command_env = {"env", "variables for the tasks of a step", usage, run};
