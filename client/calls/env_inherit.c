/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a step, from that of the job it is part of: no broker is asked (F16, F17). */

#include "client/fault.h"
#include "client/calls/variable.h"
#include "base/names.h"
#include "base/steppath.h"
#include "base/jobid.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without these there are no hardware collectives. The step is ours to set, and without a CA
 * libfabric checks nobody, as the outer job was told. */
static const enum envname needed[] = {ENVNAME_MIN_NODES, ENVNAME_ADDRESSES, ENVNAME_JOB,
                                      ENVNAME_TOKEN, ENVNAME_URL};
enum { NEEDED_COUNT = sizeof(needed) / sizeof(needed[0]) };

const char *const *mcast_env_names(void)
{
    return envnames;
}

/* The whole path, because a step may run in another folder. */
bool mcast_env_cacert_usable(const char *value)
{
    struct stat status;
    if (strcmp(value, "yes") == 0 || strcmp(value, "no") == 0)
        return true;
    return value[0] == '/' && stat(value, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/* An empty value is as good as none. */
static const char *look_up(const char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; *environment; environment++) {
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return (*environment)[length + 1] ? *environment + length + 1 : NULL;
    }
    return NULL;
}

/* False when there is nothing to inherit. */
static bool gather(const char *const *environment, const char *values[ENVNAME_COUNT])
{
    for (size_t i = 0; i < ENVNAME_COUNT; i++)
        values[i] = look_up(environment, envnames[i]);
    return values[ENVNAME_JOB] || values[ENVNAME_TOKEN] ||
           values[ENVNAME_URL]; /* the numbers a user may set, too */
}

static int check(const char *const values[ENVNAME_COUNT], struct mcast_error *error)
{
    for (size_t i = 0; i < NEEDED_COUNT; i++) {
        if (!values[needed[i]])
            return fault_set(error, MCAST_USAGE,
                             "%s is not set, and others of the outer job are; hand on all of its "
                             "FI_CXI_ variables, or none",
                             envnames[needed[i]]);
    }
    /* libfabric puts both into JSON as they are. */
    if (!step_id_valid(values[ENVNAME_JOB]))
        return fault_set(error, MCAST_USAGE,
                         "%s cannot be inherited: it is no job's name at the fabric manager",
                         envnames[ENVNAME_JOB]);
    return 0;
}

/* Slurm numbers those of its steps that have names from the end. */
static const char *slurm_name(const char *step)
{
    static const struct {
        const char *number, *name;
    } named[] = {{"4294967292", "extern"}, {"4294967291", "batch"}, {"4294967290", "interactive"}};
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        if (strcmp(step, named[i].number) == 0)
            return named[i].name;
    }
    return step;
}

/* A path is Flux's job id path, which is whole: the job may have been submitted from one of its
 * neighbours, whose step is no part of its own. A part alone is a job of the instance whose path is
 * inherited, or else one of Slurm's steps, which have no steps of their own. */
static int settle_step(const char *inherited, const char *given, char step[STEP_ID_MAX + 1],
                       struct mcast_error *error)
{
    char plain[STEP_ID_MAX + 1];
    struct error err = {0};
    if (!given)
        return fault_set(error, MCAST_USAGE, "no step is named");
    bool below = inherited && inherited[0] == '/' && given[0] != '/';
    if (!jobid_plain_path(slurm_name(given), plain, sizeof(plain)) ||
        snprintf(step, STEP_ID_MAX + 1, "%s%s%s", below ? inherited : "", below ? "/" : "", plain) >
            STEP_ID_MAX)
        return fault_set(error, MCAST_USAGE, "the step is longer than %d bytes", STEP_ID_MAX);
    if (steppath_check(plain, &err) < 0)
        return fault_set(error, MCAST_USAGE, "%s", err.text);
    if (steppath_check(step, &err) < 0)
        return fault_set(error, MCAST_USAGE, "%s cannot be inherited: %s", envnames[ENVNAME_STEP],
                         err.text);
    return 0;
}

int mcast_env_inherit(const char *const *environment, const char *step, mcast_variable_fn *each,
                      void *data, struct mcast_error *error)
{
    const char *values[ENVNAME_COUNT];
    char own[STEP_ID_MAX + 1];
    int rc = 0;
    if (gather(environment ? environment : (const char *const *)environ, values)) {
        rc = check(values, error);
        if (rc == 0)
            rc = settle_step(values[ENVNAME_STEP], step, own, error);
        values[ENVNAME_STEP] = own;
        if (values[ENVNAME_CACERT] && !mcast_env_cacert_usable(values[ENVNAME_CACERT]))
            values[ENVNAME_CACERT] =
                "yes"; /* not "no": the token must not go to an unverified server */
    } else {
        memset(values, 0, sizeof(values));
    }
    for (size_t i = 0; rc == 0 && i < ENVNAME_COUNT; i++) {
        const struct mcast_variable variable = variable_of(envnames[i], values[i]);
        rc = each(&variable, data);
    }
    return rc;
}
