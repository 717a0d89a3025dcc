/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/grant/request.h"
#include "deploy/flux/jobtap/jobtap.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 64, KEY_SIZE = 128 };

static const char aux_name[] = "mcast::hold";
static const char prolog[] = "mcast";
static const char not_written[] = "the reservation cannot be written to Flux's KVS";

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
static void destroy_hold(void *data)
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

static struct hold *create_hold(struct jobtap *jobtap, flux_jobid_t id)
{
    struct hold *hold = calloc(1, sizeof *hold);
    if (!hold)
        return NULL;
    hold->id = id;
    if (flux_job_id_encode(id, "f58plain", hold->name, sizeof hold->name) < 0 ||
        flux_jobtap_job_aux_set(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB, aux_name, hold,
                                destroy_hold) < 0) {
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

static struct hold *current_hold(struct jobtap *jobtap)
{
    return flux_jobtap_job_aux_get(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB, aux_name);
}

/* ---- the end of the prolog ---- */

/* status: 0, or what flux job eventlog shows of a start that was given up. */
static void finish_prolog(struct hold *hold, int status)
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
static void refuse_job(struct hold *hold, const char *words)
{
    struct jobtap *jobtap = hold->jobtap;
    hold->over = true;
    if (flux_jobtap_raise_exception(jobtap->plugin, hold->id, "mcast", 0, "%s", words) == 0)
        return;
    flux_log_error(jobtap->flux, "mcast: %s: no exception can be raised (%s)", hold->name, words);
    finish_prolog(hold, 1);
}

/* The job may have started by now, and is ended: its nodes cannot learn what it was granted. */
static void on_published(flux_future_t *future, void *data)
{
    struct hold *hold = data;
    int rc = flux_future_get(future, NULL);
    hold->publish = NULL;
    flux_future_destroy(future);
    if (rc < 0 && !hold->over)
        refuse_job(hold, not_written);
}

/* ---- what was granted, for the job's nodes and for people, as the script prolog tells it ---- */

/* Only for people: a job whose memo fails is none the worse. */
static void post_memo(struct hold *hold, const struct mcast_reservation *reservation)
{
    struct jobtap *jobtap = hold->jobtap;
    char *text = mcast_reservation_json(reservation, 0);
    json_t *decoded = text ? json_loads(text, 0, NULL) : NULL;
    json_t *memo = request_memo(decoded);
    if (!memo ||
        flux_jobtap_event_post_pack(jobtap->plugin, hold->id, "memo", "{s:O}", "mcast", memo) < 0)
        flux_log_error(jobtap->flux, "mcast: %s: no memo can be posted", hold->name);
    json_decref(memo);
    json_decref(decoded);
    free(text);
}

static flux_future_t *commit_text(struct hold *hold, const char *text)
{
    char key[KEY_SIZE];
    flux_kvs_txn_t *txn = flux_kvs_txn_create();
    flux_future_t *future = NULL;
    if (txn && flux_job_kvs_key(key, sizeof key, hold->id, "mcast") >= 0 &&
        flux_kvs_txn_put(txn, 0, key, text) == 0)
        future = flux_kvs_commit(hold->jobtap->flux, NULL, 0, txn);
    flux_kvs_txn_destroy(txn);
    return future;
}

/* The whole reservation, token included, under "mcast" in the job's part of the KVS, which its
 * owner and the instance's can read; and a memo without the token for everybody.
 *
 * Nobody has to wait until the KVS has it: it takes what one sender sends in its order, so whoever
 * sees an event that is posted afterwards, as the job's prolog-finish and its start, sees the
 * reservation, too. A caller that does not find it waits for that event, and looks again. False: it
 * cannot be done. */
static bool publish_grant(struct hold *hold, const struct mcast_reservation *reservation)
{
    char *text = mcast_reservation_json(reservation, MCAST_JSON_SECRETS);
    if (!text)
        return false;
    hold->publish = commit_text(hold, text);
    if (hold->publish && flux_future_then(hold->publish, -1, on_published, hold) < 0) {
        flux_future_destroy(hold->publish);
        hold->publish = NULL;
    }
    if (hold->publish)
        post_memo(hold, reservation);
    explicit_bzero(text, strlen(text));
    free(text);
    return hold->publish;
}

/* ---- what the broker says ---- */

/* F20: the broker has been away for as long as a start may wait. Whether the job was reserved is
 * not known, so it is released when the broker is back. */
static void start_without(struct hold *hold, const char *words)
{
    struct jobtap *jobtap = hold->jobtap;
    if (hold->required || (hold->vnis && !jobtap->optional)) {
        refuse_job(hold, words);
        return;
    }
    flux_log(jobtap->flux, LOG_WARNING, "mcast: %s starts without VNIs and multicast addresses: %s",
             hold->name, words);
    hold->reserves = false;
    jobtap_release(jobtap, hold->name);
    finish_prolog(hold, 0);
}

static void on_reserved(const struct mcast_outcome *outcome, void *data)
{
    struct hold *hold = data;
    hold->request = 0;
    if (!hold->jobtap || hold->over)
        return;
    if (mcast_exit_status(outcome->error) == MCAST_EXIT_NO_ANSWER) {
        start_without(hold, outcome->error->text);
    } else if (outcome->code < 0) {
        refuse_job(hold, outcome->error->text);
    } else if (!publish_grant(hold, outcome->reservation)) {
        refuse_job(hold, not_written);
    } else {
        finish_prolog(hold, 0);
    }
}

/* ---- the job's events ---- */

static int ask_broker(struct hold *hold, struct mcast_request *wanted, uint32_t uid,
                      struct mcast_error *error)
{
    struct jobtap *jobtap = hold->jobtap;
    wanted->cluster = jobtap->cluster;
    wanted->job = hold->name;
    wanted->uid = uid;
    int rc = mcast_async_set_timeout(jobtap->broker, jobtap->retry_timeout_ms, error);
    return rc < 0 ? rc
                  : mcast_async_reserve(jobtap->broker, wanted, on_reserved, hold, &hold->request,
                                        error);
}

static void start_hold(struct hold *hold, struct mcast_request *wanted, uint32_t uid)
{
    struct jobtap *jobtap = hold->jobtap;
    struct mcast_error error = {0};
    hold->vnis = wanted->vni_count != 0;
    hold->required = wanted->hwcoll && strcmp(wanted->hwcoll, "required") == 0;
    hold->starting = flux_jobtap_prolog_start(jobtap->plugin, prolog) == 0;
    if (!hold->starting || flux_jobtap_job_subscribe(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB) < 0)
        refuse_job(hold, "Flux does not let mcastd's plugin see to this job");
    else if (ask_broker(hold, wanted, uid, &error) < 0)
        refuse_job(hold, error.text);
    else
        hold->reserves = true;
}

/* Of a job that has no hold. Flux would start it before it looks at the exception, so its start is
 * held over that. */
static void fail_job(struct jobtap *jobtap, flux_jobid_t id, const char *words)
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
        fail_job(jobtap, FLUX_JOBTAP_CURRENT_JOB,
                 "Flux does not tell mcastd's plugin what the job is");
        return;
    }
    struct hold *hold = NULL;
    if (request_parse(&request, r, jobspec, &err) < 0)
        fail_job(jobtap, id, err.text);
    else if (!request.off && !(hold = create_hold(jobtap, id)))
        fail_job(jobtap, id, "memory is exhausted");
    else if (!request.off)
        start_hold(hold, &request.wanted, (uint32_t)uid);
    request_release(&request);
}

void hold_adopt(struct jobtap *jobtap, flux_plugin_arg_t *args)
{
    flux_jobid_t id;
    int state;
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:i}", "id", &id, "state", &state) <
            0 ||
        !(state & FLUX_JOB_STATE_RUNNING) || current_hold(jobtap))
        return;
    struct hold *hold = create_hold(jobtap, id);
    if (hold)
        hold->reserves = true;
    if (!hold || flux_jobtap_job_subscribe(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB) < 0)
        flux_log_error(jobtap->flux, "mcast: the end of a running job will not be seen");
}

static void release_job(struct hold *hold)
{
    if (hold && hold->reserves) {
        jobtap_release(hold->jobtap, hold->name);
        hold->reserves = false;
    }
}

void hold_finish(struct jobtap *jobtap, flux_plugin_arg_t *args)
{
    (void)args;
    release_job(current_hold(jobtap));
}

/* A job that was cancelled has processes still when its cleanup begins: those that were started are
 * waited for. */
void hold_clean_up(struct jobtap *jobtap, flux_plugin_arg_t *args)
{
    struct hold *hold = current_hold(jobtap);
    (void)args;
    if (!hold)
        return;
    hold->over = true;
    mcast_async_cancel(jobtap->broker, hold->request);
    flux_future_destroy(hold->publish);
    hold->publish = NULL;
    if (flux_jobtap_job_event_posted(jobtap->plugin, hold->id, "start") != 1)
        release_job(hold);
    finish_prolog(hold, 1);
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
