/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/grant/request.h"
#include "deploy/flux/jobtap/event.h"
#include "deploy/flux/jobtap/jobtap.h"
#include "deploy/flux/jobtap/sum.h"

#include <errno.h>
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
    struct request *asked;  /* until the broker has answered; else NULL */
    bool launching;         /* with a launch document */
    double began;           /* reactor's time */
    uint64_t request;       /* the reserve under way; 0: none */
    flux_future_t *publish; /* under way; NULL: none */
    json_t *memo;           /* what it was granted, for people; NULL: not yet, or not known */
    uint32_t node_count;    /* 0: not known */
    struct sum *sum;        /* of its nodes that are clean, not reported yet */
    bool starting;          /* its start is held */
    bool reserves;          /* something may have been reserved for it */
    bool vnis;              /* it wants some, or the site's default */
    bool required;          /* it must have multicast addresses */
    bool over;              /* it must not start any more */
};

/* The reserve under way, and what it asks for. */
static void drop_request(struct hold *hold)
{
    struct jobtap *jobtap = hold->jobtap;
    mcast_async_cancel(hold->launching ? jobtap->once : jobtap->broker, hold->request);
    if (hold->asked)
        request_release(hold->asked);
    free(hold->asked);
    hold->asked = NULL;
}

/* Flux's to call, when the job is over or the plugin unloaded. */
static void destroy_hold(void *data)
{
    struct hold *hold = data;
    struct jobtap *jobtap = hold->jobtap;
    if (jobtap) {
        *(hold->before ? &hold->before->after : &jobtap->holds) = hold->after;
        if (hold->after)
            hold->after->before = hold->before;
        flux_future_destroy(hold->publish);
        hold->over = true;
        drop_request(hold);
        sum_give_up(hold->sum);
    }
    json_decref(hold->memo);
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

static double now_of(const struct jobtap *jobtap)
{
    return flux_reactor_now(flux_get_reactor(jobtap->flux));
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
    event_post(jobtap, hold->id, "refused", NULL, words);
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
static void tell_people(struct hold *hold, const struct mcast_reservation *reservation)
{
    struct jobtap *jobtap = hold->jobtap;
    char *text = mcast_reservation_json(reservation, 0);
    json_t *decoded = text ? json_loads(text, 0, NULL) : NULL;
    hold->memo = request_memo(decoded);
    if (!hold->memo || flux_jobtap_event_post_pack(jobtap->plugin, hold->id, "memo", "{s:O}",
                                                   "mcast", hold->memo) < 0)
        flux_log_error(jobtap->flux, "mcast: %s: no memo can be posted", hold->name);
    event_post(jobtap, hold->id, "reserved", hold->memo, NULL);
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
        tell_people(hold, reservation);
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
    event_post(jobtap, hold->id, "without", NULL, words);
    jobtap_release(jobtap, hold->name);
    finish_prolog(hold, 0);
}

static int ask_broker(struct hold *hold, struct mcast_error *error);

static unsigned milliseconds_left(const struct hold *hold)
{
    const double waited_ms = (now_of(hold->jobtap) - hold->began) * 1000;
    const unsigned may_ms = hold->jobtap->retry_timeout_ms;
    return waited_ms < may_ms ? may_ms - (unsigned)waited_ms : 0;
}

/* For the next jobs, too: what a broker is not set up for it will not do soon. */
static void ask_without_launch(struct hold *hold, const struct mcast_error *why)
{
    enum { NOT_SOON_S = 60, TOO_SHORT_MS = 1000 };
    struct jobtap *jobtap = hold->jobtap;
    struct mcast_error error = {0};
    flux_log(jobtap->flux, LOG_INFO, "mcast: %s gets no launch document: %s", hold->name,
             why->text);
    if (why->code == MCAST_REFUSED)
        jobtap->launch_after = now_of(jobtap) + NOT_SOON_S;
    hold->asked->wanted.launch = NULL;
    if (why->code != MCAST_REFUSED && milliseconds_left(hold) < TOO_SHORT_MS) {
        drop_request(hold);
        start_without(hold, why->text);
        return;
    }
    if (ask_broker(hold, &error) < 0)
        refuse_job(hold, error.text);
}

static void on_reserved(const struct mcast_outcome *outcome, void *data)
{
    struct hold *hold = data;
    hold->request = 0;
    if (!hold->jobtap || hold->over)
        return;
    if (hold->launching && outcome->code < 0 && request_fails_for_launch(outcome->error)) {
        ask_without_launch(hold, outcome->error);
        return;
    }
    drop_request(hold);
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

/* Within what is left of the time that a start may wait. */
static int ask_broker(struct hold *hold, struct mcast_error *error)
{
    struct jobtap *jobtap = hold->jobtap;
    const struct mcast_request *wanted = &hold->asked->wanted;
    unsigned ms = milliseconds_left(hold);
    ms = ms > 0 ? ms : 1;
    hold->launching = wanted->launch;
    if (hold->launching && ms > REQUEST_LAUNCH_MS)
        ms = REQUEST_LAUNCH_MS;
    struct mcast_async *through = hold->launching ? jobtap->once : jobtap->broker;
    const int rc = mcast_async_set_timeout(through, ms, error);
    return rc < 0 ? rc
                  : mcast_async_reserve(through, wanted, on_reserved, hold, &hold->request, error);
}

static void start_hold(struct hold *hold, uint32_t uid)
{
    struct jobtap *jobtap = hold->jobtap;
    struct mcast_request *wanted = &hold->asked->wanted;
    struct mcast_error error = {0};
    hold->began = now_of(jobtap);
    wanted->cluster = jobtap->cluster;
    wanted->job = hold->name;
    wanted->uid = uid;
    hold->node_count = wanted->node_count;
    if (hold->began >= jobtap->launch_after)
        wanted->launch = request_launch();
    hold->vnis = wanted->vni_count != 0;
    hold->required = wanted->hwcoll && strcmp(wanted->hwcoll, "required") == 0;
    hold->starting = flux_jobtap_prolog_start(jobtap->plugin, prolog) == 0;
    if (!hold->starting || flux_jobtap_job_subscribe(jobtap->plugin, FLUX_JOBTAP_CURRENT_JOB) < 0)
        refuse_job(hold, "Flux does not let mcastd's plugin see to this job");
    else if (ask_broker(hold, &error) < 0)
        refuse_job(hold, error.text);
    else
        hold->reserves = true;
}

/* Of a job that has no hold. Flux would start it before it looks at the exception, so its start is
 * held over that. */
static void fail_job(struct jobtap *jobtap, flux_jobid_t id, const char *words)
{
    bool held = flux_jobtap_prolog_start(jobtap->plugin, prolog) == 0;
    event_post(jobtap, id, "refused", NULL, words);
    flux_jobtap_raise_exception(jobtap->plugin, id, "mcast", 0, "%s", words);
    if (held)
        flux_jobtap_prolog_finish(jobtap->plugin, id, prolog, 1);
}

void hold_begin(struct jobtap *jobtap, flux_plugin_arg_t *args)
{
    flux_jobid_t id;
    int uid;
    json_t *r = NULL, *jobspec = NULL;
    struct error err = {0};
    if (jobtap->release_only)
        return;
    struct request *asked = calloc(1, sizeof *asked);
    if (flux_plugin_arg_unpack(args, FLUX_PLUGIN_ARG_IN, "{s:I s:i s:o s:o}", "id", &id, "userid",
                               &uid, "R", &r, "jobspec", &jobspec) < 0) {
        fail_job(jobtap, FLUX_JOBTAP_CURRENT_JOB,
                 "Flux does not tell mcastd's plugin what the job is");
        free(asked);
        return;
    }
    struct hold *hold = NULL;
    if (asked && request_parse(asked, r, jobspec, &err) < 0)
        fail_job(jobtap, id, err.text);
    else if (!asked || (!asked->off && !(hold = create_hold(jobtap, id))))
        fail_job(jobtap, id, "memory is exhausted");
    if (hold) {
        hold->asked = asked;
        start_hold(hold, (uint32_t)uid);
    } else {
        if (asked && asked->off)
            event_post(jobtap, id, "off", NULL, NULL);
        if (asked)
            request_release(asked);
        free(asked);
    }
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
        event_post(hold->jobtap, hold->id, "releasing", NULL, NULL);
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
    drop_request(hold);
    flux_future_destroy(hold->publish);
    hold->publish = NULL;
    if (flux_jobtap_job_event_posted(jobtap->plugin, hold->id, "start") != 1)
        release_job(hold);
    finish_prolog(hold, 1);
}

/* Only the instance's owner may call this, and root where it is one: the service is not open to
 * guests. */
void hold_hear(flux_t *flux, flux_msg_handler_t *handler, const flux_msg_t *word, void *data)
{
    struct jobtap *jobtap = data;
    struct sum_word said;
    const char *cluster;
    json_int_t id, number;
    (void)handler;
    struct hold *hold = NULL;
    said.traffic = "";
    if (flux_request_unpack(word, NULL, "{s:s s:I s:I s:s s?s}", "cluster", &cluster, "id", &id,
                            "number", &number, "node", &said.node, "traffic", &said.traffic) == 0 &&
        strcmp(cluster, jobtap->cluster) == 0)
        hold = flux_jobtap_job_aux_get(jobtap->plugin, (flux_jobid_t)id, aux_name);
    if (hold) {
        said.job = hold->name;
        said.number = (uint64_t)number;
        said.node_count = hold->node_count;
    }
    if ((!hold || !sum_add(jobtap, &hold->sum, &said, word)) &&
        flux_respond_error(flux, word, ENOENT, "it does not know such a job or node") < 0)
        flux_log_error(flux, "mcast: a node gets no answer");
}

json_t *hold_list(const struct jobtap *jobtap)
{
    json_t *all = json_object();
    for (const struct hold *hold = jobtap->holds; all && hold; hold = hold->after)
        json_object_set_new(all, hold->name, hold->memo ? json_incref(hold->memo) : json_object());
    return all;
}

void hold_give_up_all(struct jobtap *jobtap)
{
    struct hold *after;
    for (struct hold *hold = jobtap->holds; hold; hold = after) {
        after = hold->after;
        flux_future_destroy(hold->publish);
        hold->publish = NULL;
        hold->over = true;
        drop_request(hold);
        sum_give_up(hold->sum);
        hold->jobtap = NULL;
    }
    jobtap->holds = NULL;
}
