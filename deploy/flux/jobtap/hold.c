/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/hold.h"
#include "deploy/flux/grant/request.h"
#include "deploy/flux/jobtap/publish.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 64 };

static const char aux_name[] = "mcast::hold";
static const char prolog[] = "mcast";

struct hold {
    struct jobtap *jobtap; /* NULL: the plugin is gone */
    struct hold *before, *after;
    flux_jobid_t id;
    char name[NAME_SIZE];   /* its id in the plain form, under which it is reserved */
    uint64_t request;       /* the reserve under way; 0: none */
    flux_future_t *publish; /* under way; NULL: none */
    bool starting;          /* its start is held */
    bool reserves;          /* something may have been reserved for it */
    bool vnis;              /* it wants some, or the site's default */
    bool required;          /* it must have multicast addresses */
    bool over;              /* it must not start any more */
};

/* Flux's to call, when the job is over or the plugin unloaded. */
static void destroy(void *data)
{
    struct hold *hold = data;
    struct jobtap *jobtap = hold->jobtap;
    if (jobtap) {
        *(hold->before ? &hold->before->after : &jobtap->holds) = hold->after;
        if (hold->after)
            hold->after->before = hold->before;
        hold->jobtap = NULL;
        mcast_async_cancel(jobtap->broker, hold->request);
        flux_future_destroy(hold->publish);
    }
    free(hold);
}

static struct hold *create(struct jobtap *jobtap, flux_jobid_t id)
{
    struct hold *hold = calloc(1, sizeof(*hold));
    if (!hold)
        return NULL;
    hold->id = id;
    if (flux_job_id_encode(id, "f58plain", hold->name, sizeof(hold->name)) < 0 ||
        flux_jobtap_job_aux_set(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB, aux_name, hold, destroy) <
            0) {
        free(hold);
        return NULL;
    }
    hold->jobtap = jobtap;
    hold->after = jobtap->holds;
    if (hold->after)
        hold->after->before = hold;
    jobtap->holds = hold;
    return hold;
}

static struct hold *current(struct jobtap *jobtap)
{
    return flux_jobtap_job_aux_get(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB, aux_name);
}

/* ---- the end of the prolog ---- */

/* status: 0, or what flux job eventlog shows of a start that was given up. */
static void let_go(struct hold *hold, int status)
{
    struct jobtap *jobtap = hold->jobtap;
    if (!hold->starting)
        return;
    hold->starting = false;
    if (flux_jobtap_prolog_finish(jobtap->plugin, hold->id, prolog, status) < 0)
        flux_log_error(jobtap->flux, "mcast: %s: its prolog cannot be finished", hold->name);
}

/* The user sees the words. The exception begins the job's cleanup, which lets its start go: where
 * no other callback of the job is under way that has happened when this returns, and the hold may
 * be gone. */
static void refuse(struct hold *hold, const char *words)
{
    struct jobtap *jobtap = hold->jobtap;
    hold->over = true;
    if (flux_jobtap_raise_exception(jobtap->plugin, hold->id, "mcast", 0, "%s", words) == 0)
        return;
    flux_log_error(jobtap->flux, "mcast: %s: no exception can be raised (%s)", hold->name, words);
    let_go(hold, 1);
}

/* The job may have started by now, and is ended: its nodes cannot learn what it was granted. */
static void on_published(flux_future_t *future, void *data)
{
    struct hold *hold = data;
    int rc = flux_future_get(future, NULL);
    hold->publish = NULL;
    flux_future_destroy(future);
    if (rc < 0 && !hold->over)
        refuse(hold, "the reservation cannot be written to Flux's KVS");
}

/* ---- what the broker says ---- */

/* F20: the broker has been away for as long as a start may wait. Whether the job was reserved is
 * not known, so it is released when the broker is back. */
static void do_without(struct hold *hold, const char *words)
{
    struct jobtap *jobtap = hold->jobtap;
    if (hold->required || (hold->vnis && !jobtap->optional)) {
        refuse(hold, words);
        return;
    }
    flux_log(jobtap->flux, LOG_WARNING, "mcast: %s starts without VNIs and multicast addresses: %s",
             hold->name, words);
    hold->reserves = false;
    jobtap_release(jobtap, hold->name);
    let_go(hold, 0);
}

static void on_reserved(const struct mcast_outcome *outcome, void *data)
{
    struct hold *hold = data;
    hold->request = 0;
    if (!hold->jobtap || hold->over)
        return;
    if (mcast_exit_status(outcome->error) == MCAST_EXIT_NO_ANSWER) {
        do_without(hold, outcome->error->text);
    } else if (outcome->code < 0) {
        refuse(hold, outcome->error->text);
    } else {
        hold->publish =
            publish_grant(hold->jobtap, hold->id, outcome->reservation, on_published, hold);
        if (!hold->publish)
            refuse(hold, "the reservation cannot be written to Flux's KVS");
        else
            let_go(hold, 0); /* the KVS takes it before all events from now on (publish.h) */
    }
}

/* ---- the job's events ---- */

static int ask(struct hold *hold, const struct request *request, uint32_t uid,
               struct mcast_error *error)
{
    struct jobtap *jobtap = hold->jobtap;
    struct mcast_request wanted = MCAST_REQUEST_INIT;
    wanted.cluster = jobtap->cluster;
    wanted.job = hold->name;
    wanted.uid = uid;
    request_put(request, &wanted);
    int rc = mcast_async_set_timeout(jobtap->broker, jobtap->patience_ms, error);
    return rc < 0 ? rc
                  : mcast_async_reserve(jobtap->broker, &wanted, on_reserved, hold, &hold->request,
                                        error);
}

static void start(struct hold *hold, const struct request *request, uint32_t uid)
{
    struct jobtap *jobtap = hold->jobtap;
    struct mcast_error error = {0};
    hold->vnis = request->vnis != 0;
    hold->required = request->hwcoll && strcmp(request->hwcoll, "required") == 0;
    hold->starting = flux_jobtap_prolog_start(jobtap->plugin, prolog) == 0;
    if (!hold->starting || flux_jobtap_job_subscribe(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB) < 0)
        refuse(hold, "Flux does not let mcastd's plugin see to this job");
    else if (ask(hold, request, uid, &error) < 0)
        refuse(hold, error.text);
    else
        hold->reserves = true;
}

/* Of a job that has no hold. Flux would start it before it looks at the exception, so its start is
 * held over that. */
static void fail(struct jobtap *jobtap, flux_jobid_t id, const char *words)
{
    bool held = flux_jobtap_prolog_start(jobtap->plugin, prolog) == 0;
    flux_jobtap_raise_exception(jobtap->plugin, id, "mcast", 0, "%s", words);
    if (held)
        flux_jobtap_prolog_finish(jobtap->plugin, id, prolog, 1);
}

void hold_begin(struct jobtap *jobtap, flux_plugin_arg_t *args)
{
    flux_jobid_t id;
    int uid;
    json_t *r = NULL, *jobspec = NULL;
    struct request request;
    struct error err = {0};
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:i s:o s:o}", "id", &id, "userid",
                               &uid, "R", &r, "jobspec", &jobspec) < 0) {
        fail(jobtap, FLUX_JOBTAP_CURRENT_JOB, "Flux does not tell mcastd's plugin what the job is");
        return;
    }
    struct hold *hold = NULL;
    if (request_parse(&request, r, jobspec, &err) < 0)
        fail(jobtap, id, err.text);
    else if (!request.off && !(hold = create(jobtap, id)))
        fail(jobtap, id, "memory is exhausted");
    else if (!request.off)
        start(hold, &request, (uint32_t)uid);
    request_release(&request);
}

void hold_adopt(struct jobtap *jobtap, flux_plugin_arg_t *args)
{
    flux_jobid_t id;
    int state;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:i}", "id", &id, "state", &state) <
            0 ||
        !(state & FLUX_JOB_STATE_RUNNING) || current(jobtap))
        return;
    struct hold *hold = create(jobtap, id);
    if (hold)
        hold->reserves = true;
    if (!hold || flux_jobtap_job_subscribe(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB) < 0)
        flux_log_error(jobtap->flux, "mcast: the end of a running job will not be seen");
}

static void release(struct hold *hold)
{
    if (hold->reserves)
        jobtap_release(hold->jobtap, hold->name);
    hold->reserves = false;
}

void hold_finish(struct jobtap *jobtap)
{
    struct hold *hold = current(jobtap);
    if (hold)
        release(hold);
}

/* A job that was cancelled has processes still when its cleanup begins: those that were started are
 * waited for. */
void hold_clean_up(struct jobtap *jobtap)
{
    struct hold *hold = current(jobtap);
    if (!hold)
        return;
    hold->over = true;
    mcast_async_cancel(jobtap->broker, hold->request);
    flux_future_destroy(hold->publish);
    hold->publish = NULL;
    if (flux_jobtap_job_event_posted(jobtap->plugin, hold->id, "start") != 1)
        release(hold);
    let_go(hold, 1);
}

void hold_give_up_all(struct jobtap *jobtap)
{
    struct hold *after;
    for (struct hold *hold = jobtap->holds; hold; hold = after) {
        after = hold->after;
        hold->jobtap = NULL;
        flux_future_destroy(hold->publish);
        hold->publish = NULL;
        mcast_async_cancel(jobtap->broker, hold->request);
    }
    jobtap->holds = NULL;
}
