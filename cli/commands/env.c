/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char cacert_name[] = "FI_CXI_COLL_FABRIC_MGR_CACERT";

enum { NAMES_MAX = 16 };

enum { STEP, INHERIT, FORMAT };

static const struct command_option options[] = {[STEP] = {"step", ""},
                                                [INHERIT] = {"inherit", NULL},
                                                [FORMAT] = {"format", "plain,sh,json,null"},
                                                {0}};

/* The words of --format; cli/text/env.txt says what each is for. */
enum format { PLAIN, SH, JSON, NUL };

/* Gathered first: half an environment must never be evaluated. */
struct gathering {
    FILE *text;
    json_t *object; /* of JSON, instead of text */
    enum format format;
    bool seen[NAMES_MAX]; /* by mcast_env_names */
    char unfit[128];      /* name of a variable that the format cannot carry, "" */
};

/* ---- one variable ---- */

/* Within single quotes a shell changes nothing; a single quote itself is closed, escaped, opened.
 */
static void write_sh(FILE *out, const struct mcast_variable *variable)
{
    if (!variable->value) {
        fprintf(out, "unset %s\n", variable->name);
        return;
    }
    fprintf(out, "export %s='", variable->name);
    for (const char *c = variable->value; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
    fputs("'\n", out);
}

/* PLAIN and NUL cannot say that a variable is to be unset. False: the format cannot carry the
 * value, nothing was written. */
static bool write_variable(struct gathering *gathering, const struct mcast_variable *variable)
{
    if (gathering->format == SH)
        write_sh(gathering->text, variable);
    else if (gathering->format == JSON)
        json_object_set_new(gathering->object, variable->name,
                            variable->value ? json_string(variable->value) : json_null());
    else if (gathering->format == PLAIN && variable->value && strpbrk(variable->value, "\r\n"))
        return false;
    else if (variable->value)
        fprintf(gathering->text, "%s=%s%c", variable->name, variable->value,
                gathering->format == PLAIN ? '\n' : '\0');
    return true;
}

/* ---- all of them ---- */

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
    if (write_variable(gathering, &variable))
        return 0;
    snprintf(gathering->unfit, sizeof gathering->unfit, "%s", variable.name);
    return 1;
}

/* What the broker did not name. */
static void gather_rest(struct gathering *gathering)
{
    const char *const *names = mcast_env_names();
    for (size_t i = 0; i < NAMES_MAX && names[i]; i++) {
        if (!gathering->seen[i])
            (void)gather(&(struct mcast_variable){.name = names[i]}, gathering);
    }
}

static int inherit(struct call *call, struct gathering *gathering)
{
    const char *ca = getenv(cacert_name);
    int rc = mcast_env_inherit(NULL, call->step, gather, gathering, &call->error);
    if (rc == 0 && ca && ca[0] && getenv("FI_CXI_COLL_JOB_ID") && !mcast_env_cacert_usable(ca))
        warn_of_ca(ca);
    return rc;
}

static int print_env(struct call *call, enum format format)
{
    char *bytes = NULL;
    size_t length = 0;
    struct gathering gathering = {.format = format,
                                  .text = memory_must(open_memstream(&bytes, &length)),
                                  .object = json_object()};
    int rc = call->given[INHERIT] ? inherit(call, &gathering)
                                  : mcast_env(call->handle, call->cluster, call->job,
                                              call->given[STEP] ? call->step : NULL, gather,
                                              &gathering, &call->error);
    if (rc == 0)
        gather_rest(&gathering);
    fclose(gathering.text);
    if (rc >= 0 && gathering.unfit[0]) {
        fprintf(stderr, "mcastctl: %s has a line break in it; use --format sh, json or null\n",
                gathering.unfit);
        rc = MCAST_EXIT_REFUSED;
    } else if (rc >= 0 && format == JSON) {
        rc = command_print_object(json_incref(gathering.object));
    } else if (rc >= 0) {
        fwrite(bytes, 1, length, stdout);
        rc = command_finish();
    }
    json_decref(gathering.object);
    free(bytes);
    return rc;
}

static int run_env(struct call *call)
{
    unsigned format = call->json ? JSON : PLAIN;
    if (command_step(call, STEP) < 0 || command_word(call, FORMAT, &format) < 0)
        return MCAST_USAGE;
    if (call->given[INHERIT] && !call->given[STEP])
        return command_misused(call, "which step? --inherit needs --step S");
    int rc = call->given[INHERIT] ? command_no_arguments(call) : command_job(call);
    if (rc == 0 && !call->given[INHERIT])
        rc = command_open(call);
    return rc < 0 ? rc : print_env(call, (enum format)format);
}

const struct command command_env = {"env",
                                    "print the variables for a step's tasks",
                                    COMMAND_OWN_ARGUMENTS,
                                    COMMAND_ALONE,
                                    options,
                                    .run = run_env,
                                    .argument = "JOB"};
