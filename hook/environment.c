/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/hook.h"

#include "base/steppath.h"
#include "base/jobid.h"

#include <stdlib.h>
#include <string.h>

static const char step_name[] = "FI_CXI_COLL_JOB_STEP_ID";

/* An empty value counts as none. */
static const char *get_variable(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* A step that is not valid is not sent: a session token would not stop it (I6). */
static int read_step(struct environment *s, const char *given, struct error *err)
{
    const char *step = given ? given : get_variable(step_name);
    if (!step)
        return error_set(err, ERROR_INVALID, "%s is not set: name the step with --step", step_name);
    int code = jobid_plain(step, s->step, sizeof s->step)
                   ? steppath_check(s->step, err)
                   : error_set(err, ERROR_INVALID, "the step is longer than %d bytes", STEP_ID_MAX);
    return code < 0 ? error_prefix(err, "%s", given ? "--step" : step_name) : 0;
}

/* "yes" is the system's store, and so is no value: libfabric would not verify then, we do. */
static void read_ca(struct environment *s)
{
    const char *ca = get_variable("FI_CXI_COLL_FABRIC_MGR_CACERT");
    s->verify = !ca || strcmp(ca, "no") != 0;
    s->cacert = s->verify && ca && strcmp(ca, "yes") != 0 ? ca : NULL;
}

static const char trees[] = "/fabric/collectives/multicasts";

static bool ends_in_trees(const char *url)
{
    size_t length = strlen(url), end = sizeof trees - 1;
    return length > end && strcmp(url + length - end, trees) == 0;
}

/* It becomes part of a request header. */
static bool token_is_valid(const char *token)
{
    const char *end = token;
    while (*end > ' ' && *end <= '~')
        end++;
    return *end == '\0' && end - token <= TOKEN_MAX;
}

enum { TOKEN, JOB, URL, FABRIC_COUNT };
static const char *const names[FABRIC_COUNT] = {"FI_CXI_COLL_MCAST_TOKEN", "FI_CXI_COLL_JOB_ID",
                                                "FI_CXI_COLL_FABRIC_MGR_URL"};

static int read_fabric(struct environment *s, const char *const values[FABRIC_COUNT],
                       struct error *why)
{
    for (size_t i = 0; i < FABRIC_COUNT; i++)
        if (!values[i])
            return error_set(why, ERROR_INVALID, "%s is not set", names[i]);
    /* The broker's tokens are its own (B3). */
    if (strncmp(values[TOKEN], "mcast", 5) == 0)
        return error_set(why, ERROR_INVALID, "%s is no token of the fabric manager's",
                         names[TOKEN]);
    if (!token_is_valid(values[TOKEN]))
        return error_set(why, ERROR_INVALID, "%s is no token", names[TOKEN]);
    if (!step_id_valid(values[JOB]))
        return error_set(why, ERROR_INVALID, "%s is no job's name at the fabric manager",
                         names[JOB]);
    if (!ends_in_trees(values[URL]))
        return error_set(why, ERROR_INVALID, "%s does not end in %s", names[URL], trees);
    s->trees_url = values[URL];
    s->session_token = secret_of(values[TOKEN]);
    s->job = values[JOB];
    read_ca(s);
    return 0;
}

int environment_read(struct environment *s, const char *step, struct error *err)
{
    const char *values[FABRIC_COUNT], *token = get_variable("MCAST_TOKEN");
    *s = (struct environment){.verify = true};
    for (size_t i = 0; i < FABRIC_COUNT; i++)
        values[i] = get_variable(names[i]);
    if (!token && !values[TOKEN] && !values[JOB] && !values[URL])
        return error_set(err, ERROR_NOT_FOUND, "no job with hardware collectives is around");
    int code = read_step(s, step, err);
    if (code < 0)
        return code;
    /* MCAST_TOKEN without MCAST_URL: there is a broker, where libmcast finds it. */
    s->broker_url = get_variable("MCAST_URL");
    s->broker_token = secret_of(token ? token : values[TOKEN]);
    s->broker = token || (s->broker_url && values[TOKEN]);
    struct error why;
    code = read_fabric(s, values, &why);
    if (code < 0 && !s->broker)
        return error_set(err, ERROR_INVALID,
                         "neither the fabric manager nor a broker can be asked: %.200s, and "
                         "MCAST_TOKEN with MCAST_URL is not set either",
                         why.text);
    return 0;
}
