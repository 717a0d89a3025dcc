#include "hook/surroundings.h"

#include "base/steppath.h"
#include "base/jobid.h"

#include <string.h>

static const char step_name[] = "FI_CXI_COLL_JOB_STEP_ID";

/* An empty value is as good as none. */
static const char *look_up(surroundings_get_fn *get, const char *name)
{
    const char *value = get(name);
    return value && value[0] ? value : NULL;
}

/* What no token can reach is sent nowhere: a session token would not keep us from it (I6). */
static int read_step(struct surroundings *s, surroundings_get_fn *get, const char *given,
                     struct error *err)
{
    const char *step = given ? given : look_up(get, step_name);
    if (!step)
        return error_set(err, ERROR_INVALID, "%s is not set: name the step with --step", step_name);
    int code = jobid_plain_path(step, s->step, sizeof s->step)
                   ? steppath_check(s->step, err)
                   : error_set(err, ERROR_INVALID, "the step is longer than %d bytes", STEP_ID_MAX);
    return code < 0 ? error_prefix(err, "%s", given ? "--step" : step_name) : 0;
}

/* "yes" is the system's store, and as good as nothing at all: libfabric would check nobody then,
 * but we have a choice. */
static void read_ca(struct surroundings *s, surroundings_get_fn *get)
{
    const char *ca = look_up(get, "FI_CXI_COLL_FABRIC_MGR_CACERT");
    s->verify = !ca || strcmp(ca, "no") != 0;
    s->cacert = s->verify && ca && strcmp(ca, "yes") != 0 ? ca : NULL;
}

static const char trees[] = "/fabric/collectives/multicasts";

static bool ends_in_trees(const char *url)
{
    size_t length = strlen(url), end = sizeof trees - 1;
    return length > end && strcmp(url + length - end, trees) == 0;
}

/* It goes into a line of a request's head. */
static bool token_possible(const char *token)
{
    size_t length = strnlen(token, TOKEN_MAX + 1);
    for (size_t i = 0; i < length; i++) {
        if (token[i] <= ' ' || token[i] > '~')
            return false;
    }
    return length <= TOKEN_MAX;
}

static int read_fabric(struct surroundings *s, surroundings_get_fn *get, struct error *why)
{
    static const char *const names[] = {"FI_CXI_COLL_MCAST_TOKEN", "FI_CXI_COLL_JOB_ID",
                                        "FI_CXI_COLL_FABRIC_MGR_URL"};
    const char *values[3];
    for (size_t i = 0; i < 3; i++) {
        values[i] = look_up(get, names[i]);
        if (!values[i])
            return error_set(why, ERROR_INVALID, "%s is not set", names[i]);
    }
    /* The broker's tokens are its own (B3). */
    if (strncmp(values[0], "mcast", 5) == 0)
        return error_set(why, ERROR_INVALID, "%s is no token of the fabric manager's", names[0]);
    if (!token_possible(values[0]))
        return error_set(why, ERROR_INVALID, "%s is no token", names[0]);
    if (!step_id_valid(values[1]))
        return error_set(why, ERROR_INVALID, "%s is no job's name at the fabric manager", names[1]);
    if (!ends_in_trees(values[2]))
        return error_set(why, ERROR_INVALID, "%s does not end in %s", names[2], trees);
    s->trees_url = values[2];
    s->session_token = secret_of(values[0]);
    s->job = values[1];
    read_ca(s, get);
    return 0;
}

/* A token of the broker's alone says that there is one: where libmcast looks. */
static void read_broker(struct surroundings *s, surroundings_get_fn *get)
{
    const char *token = look_up(get, "MCAST_TOKEN");
    s->broker_url = look_up(get, "MCAST_URL");
    s->broker_token = secret_of(token ? token : look_up(get, "FI_CXI_COLL_MCAST_TOKEN"));
    s->broker = token || (s->broker_url && !secret_none(s->broker_token));
}

int surroundings_read(struct surroundings *s, surroundings_get_fn *get, const char *step,
                      struct error *err)
{
    *s = (struct surroundings){.verify = true};
    if (!look_up(get, "MCAST_TOKEN") && !look_up(get, "FI_CXI_COLL_MCAST_TOKEN") &&
        !look_up(get, "FI_CXI_COLL_JOB_ID") && !look_up(get, "FI_CXI_COLL_FABRIC_MGR_URL"))
        return error_set(err, ERROR_NOT_FOUND, "no job with hardware collectives is around");
    int code = read_step(s, get, step, err);
    if (code < 0)
        return code;
    read_broker(s, get);
    code = read_fabric(s, get, &s->no_fabric);
    if (code < 0 && !s->broker)
        return error_set(err, ERROR_INVALID,
                         "nobody can be asked: %.200s, and neither is MCAST_TOKEN with MCAST_URL "
                         "for a broker",
                         s->no_fabric.text);
    return 0;
}
