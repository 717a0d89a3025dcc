/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a step, from that of the job it is part of: no broker is asked (F16, F17). */

#include "client/calls/call.h"
#include "client/text.h"
#include "base/names.h"
#include "base/steppath.h"
#include "base/jobid.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Slingshot's, and the keys of Omni-Path. */
enum variable {
    MIN_NODES,
    ADDRESSES,
    JOB,
    STEP,
    TOKEN,
    URL,
    CACERT,
    COUNT,
    OPX_UUID = COUNT,
    PSM3_UUID,
    OPX_PKEY,
    PSM3_PKEY,
    NAMES
};

/* In the broker's order, ended by NULL. */
static const char *const names[NAMES + 1] = {
    [MIN_NODES] = "FI_CXI_HWCOLL_MIN_NODES",
    [ADDRESSES] = "FI_CXI_HWCOLL_ADDRS_PER_JOB",
    [JOB] = "FI_CXI_COLL_JOB_ID",
    [STEP] = "FI_CXI_COLL_JOB_STEP_ID",
    [TOKEN] = "FI_CXI_COLL_MCAST_TOKEN",
    [URL] = "FI_CXI_COLL_FABRIC_MGR_URL",
    [CACERT] = "FI_CXI_COLL_FABRIC_MGR_CACERT",
    [OPX_UUID] = "FI_OPX_UUID",
    [PSM3_UUID] = "FI_PSM3_UUID",
    [OPX_PKEY] = "FI_OPX_PKEY",
    [PSM3_PKEY] = "PSM3_PKEY",
};

/* A job may have these, and so may its user have chosen them: never to be unset. */
static const char *const settings[] = {"FI_OPX_SL", "FI_OPX_HFI_SELECT", "PSM3_NIC",
                                       "FI_OPX_CONTEXT_SHARING",
                                       "FI_OPX_ENDPOINTS_PER_HFI_CONTEXT"};

const char *const *mcast_env_names(void)
{
    return names;
}

/* Who holds the token may make and delete the job's multicast trees; who has the key on Omni-Path
 * may pass for one of its tasks. */
struct mcast_variable env_variable(const char *name, const char *value)
{
    const bool secret = strcmp(name, names[TOKEN]) == 0 || strcmp(name, names[OPX_UUID]) == 0 ||
                        strcmp(name, names[PSM3_UUID]) == 0;
    return (struct mcast_variable){name, value, secret};
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

/* Without these there are no hardware collectives. The step is ours to set, and without a CA
 * libfabric verifies no server, as in the outer job. */
static int check_values(const char *const values[COUNT], struct mcast_error *error)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!values[i] && i != STEP && i != CACERT)
            return fault_set(error, MCAST_USAGE,
                             "%s is not set, and others of the outer job are; hand on all of its "
                             "FI_CXI_ variables, or none",
                             names[i]);
    /* libfabric puts both into JSON as they are. */
    if (!step_id_valid(values[JOB]))
        return fault_set(error, MCAST_USAGE,
                         "%s cannot be inherited: it is no job's name at the fabric manager",
                         names[JOB]);
    return 0;
}

/* Slurm numbers those of its steps that have names from the end. */
static const char *slurm_name(const char *step)
{
    static const struct {
        const char *number, *name;
    } named[] = {{"4294967292", "extern"}, {"4294967291", "batch"}, {"4294967290", "interactive"}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strcmp(step, named[i].number) == 0)
            return named[i].name;
    }
    return step;
}

/* A path is Flux's job id path, which is whole: the job may have been submitted from one of its
 * siblings, whose step is no part of its own. A part alone is a job of the instance whose path is
 * inherited, or else one of Slurm's steps, which have no steps of their own. */
static int settle_step(const char *inherited, const char *given, char step[STEP_ID_MAX + 1],
                       struct mcast_error *error)
{
    char plain[STEP_ID_MAX + 1];
    struct error err = {0};
    if (!given)
        return fault_set(error, MCAST_USAGE, "no step is named");
    bool below = inherited && inherited[0] == '/' && given[0] != '/';
    if (!jobid_plain(slurm_name(given), plain, sizeof plain) ||
        snprintf(step, STEP_ID_MAX + 1, "%s%s%s", below ? inherited : "", below ? "/" : "", plain) >
            STEP_ID_MAX)
        return fault_set(error, MCAST_USAGE, "the step is longer than %d bytes", STEP_ID_MAX);
    if (steppath_check(plain, &err) < 0)
        return fault_set(error, MCAST_USAGE, "%s", err.text);
    if (steppath_check(step, &err) < 0)
        return fault_set(error, MCAST_USAGE, "%s cannot be inherited: %s", names[STEP], err.text);
    return 0;
}

int mcast_env_inherit(const char *const *environment, const char *step, mcast_variable_fn *each,
                      void *data, struct mcast_error *error)
{
    const char *values[NAMES];
    char own[STEP_ID_MAX + 1];
    int rc = 0;
    if (!environment)
        environment = (const char *const *)environ;
    for (size_t i = 0; i < NAMES; i++)
        values[i] = look_up(environment, names[i]);
    /* the numbers a user may set, too */
    bool inherits = values[JOB] || values[TOKEN] || values[URL];
    if (inherits) {
        rc = check_values(values, error);
        if (rc == 0)
            rc = settle_step(values[STEP], step, own, error);
        values[STEP] = own;
        /* not "no": the token must not go to an unverified server */
        if (values[CACERT] && !mcast_env_cacert_usable(values[CACERT]))
            values[CACERT] = "yes";
    } else {
        memset(values, 0, COUNT * sizeof *values);
    }
    for (size_t i = 0; rc == 0 && i < NAMES; i++) {
        const struct mcast_variable variable = env_variable(names[i], values[i]);
        rc = each(&variable, data);
    }
    for (size_t i = 0; rc == 0 && i < sizeof settings / sizeof *settings; i++) {
        const struct mcast_variable variable =
            env_variable(settings[i], look_up(environment, settings[i]));
        if (variable.value)
            rc = each(&variable, data);
    }
    return rc;
}
