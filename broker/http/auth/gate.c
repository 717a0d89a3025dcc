/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/gate.h"

#include "broker/http/auth/mungecred.h"
#include "broker/http/auth/origin.h"
#include "broker/http/auth/pluginlogin.h"
#include "broker/http/auth/identity.h"
#include "broker/http/auth/resolver.h"
#include "broker/http/listen/tls.h"
#include "broker/http/auth/tokenproof.h"
#include "broker/log/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int find_route(struct call *call, const char *method)
{
    unsigned methods;
    const bool front = call->peer->listener->front;
    char *uri = call->uri;
    while (front && uri[0] == '/' && uri[1] == '/') /* Slurm and libfabric: fm_url ends with '/' */
        uri++;
    if (target_split(uri, &call->target, &call->problem) < 0)
        return -1;
    call->route =
        route_match(routes, ROUTES, &call->target, front, method_from_word(method), &methods);
    if (call->route)
        return route_check_query(call->route, &call->target, &call->problem);
    if (!methods && front) /* not 404: Slurm takes that for an answer, and its controller ends */
        return problem_set(&call->problem, 400, "no-such-path", NULL,
                           "unknown path: the address of [front] listen has those of the fabric "
                           "manager's collectives only, right below fm_url");
    if (!methods)
        return problem_set(&call->problem, 404, "no-such-path", NULL,
                           "unknown path; GET /openapi.json lists all paths");
    methods_format(call->allow, sizeof call->allow, methods);
    return problem_set(&call->problem, 405, "method-not-allowed", NULL,
                       "%.16s is not allowed on this path; allowed: %s", method, call->allow);
}

/* Which node the path is about, where only that node may; or NULL. */
static const char *named_node(const struct call *call)
{
    const size_t segment = call->route->need == NEED_NODE ? 6 : 2;
    const bool names = call->route->need == NEED_NODE || call->route->need == NEED_HOST;
    return names ? call->target.segments[segment] : NULL;
}

int gate_forbid(struct call *call, const char *lacks)
{
    char who[IDENTITY_TEXT_SIZE], deed[128] = "do this";
    const struct proof *proof = &call->identity.proof;
    if (named_node(call))
        snprintf(deed, sizeof deed, "report for node %.80s", named_node(call));
    if (proof->kind == PROOF_MUNGE && proof->uid == 0 && !call->origin) /* 'admins' may name root */
        lacks = "root by MUNGE is the root of any host that has the key, and never an admin, a "
                "resource manager or an owner; use the Unix socket on the broker's host, a "
                "certificate, or a user of 'admins' or 'users' that is not root (a node says which "
                "it is: " GATE_NODE_HEADER ")";
    return problem_set(&call->problem, 403, "forbidden", NULL, "%s may not %s: %s",
                       identity_format(&call->identity.proof, who, sizeof who), deed, lacks);
}

/* ---- who asks ---- */

static int refuse_certificate(struct call *call)
{
    const char *const *names = certificate_names(call->peer->certificate);
    return problem_set(&call->problem, 401, "certificate-refused", NULL,
                       "the client certificate \"%s\" is not accepted: %s",
                       names[0] ? names[0] : "", peer_fault(call->peer));
}

/* Which node root by MUNGE says it is, where that gives it a right; or NULL. */
static const char *claimed_node(struct call *call)
{
    const enum need need = call->route->need;
    return need == NEED_PEER || need == NEED_LOOK ? call_header(call, GATE_NODE_HEADER)
                                                  : named_node(call);
}

/* What is refused because names cannot be looked up now says nothing of the node: 503. */
static void judge_origin(struct call *call, const struct host *host)
{
    char why[sizeof call->problem.detail];
    origin_look(call->origin, host);
    if (origin_holds(call->origin)) {
        call->identity.proof.names = call->origin->names;
        gate_refresh(call);
    } else if (host->state == HOST_UNANSWERED) {
        problem_set(&call->problem, 503, "names-unavailable", NULL, "%s",
                    origin_explain(call->origin, why, sizeof why));
        call->refused = true;
    }
}

static void on_host(void *arg, const struct host *host)
{
    judge_origin(arg, host);
    call_proved(arg);
}

/* Its name says whose addresses the credential's origin has to be among. False: on_host comes. */
static bool find_origin(struct call *call, const char *node)
{
    const struct http *http = call->http;
    const struct in_addr address = call->identity.proof.origin;
    const char *cluster = call->route->need == NEED_NODE ? call->target.segments[2] : NULL;
    struct host host;
    call->origin = origin_create(node, rights_list_node(http->rights, cluster, node), address);
    if (!origin_is_open(call->origin))
        return true;
    int rc = resolver_ask(http->resolver, node, address, &host, on_host, call);
    if (rc == RESOLVER_KNOWN)
        judge_origin(call, &host);
    if (rc < 0) {
        problem_set(&call->problem, 503, "busy", NULL,
                    "too many nodes wait for their names to be looked up; try again");
        call->refused = true;
    }
    return rc != 0;
}

/* Once, for the log: without munged all are refused who prove themselves by MUNGE. */
static void note_munged(struct http *http, const struct problem *problem)
{
    const bool away = problem && problem->status == 503;
    if (away && http->munged_away_ms == 0)
        log_line(LOG_ERR,
                 "munged at %s does not answer: who shows a MUNGE credential is refused (503) -> "
                 "systemctl status munge",
                 http->config->munge_socket);
    else if (!away && http->munged_away_ms != 0)
        log_line(LOG_NOTICE, "munged answers again");
    if (!away || http->munged_away_ms == 0)
        http->munged_away_ms = away ? engine_now_ms(http->engine) : 0;
}

/* Who has proved an identity is no longer unauthenticated, also while a name is looked up. */
static void on_decoded(void *arg, const struct mungecred *mungecred)
{
    struct call *call = arg;
    const bool accepted = mungecred_judge(mungecred, &call->problem) == 0;
    note_munged(call->http, accepted ? NULL : &call->problem);
    if (!accepted) {
        call->refused = true;
        call_proved(call);
        return;
    }
    call->identity = rights_judge(call->http->rights, &mungecred->proof);
    peer_settle(call->peer, &call->identity);
    const char *node = mungecred->proof.uid == 0 ? claimed_node(call) : NULL;
    if (!node || find_origin(call, node))
        call_proved(call);
}

static int ask_munged(struct call *call, const char *credential, const char *payload)
{
    struct http *http = call->http;
    if (http->config->munge_socket[0] == '\0')
        return problem_set(&call->problem, 401, "munge-not-taken", "Authorization",
                           "this broker accepts no MUNGE credentials; its administrator can set "
                           "munge_socket in the configuration");
    if (decoder_ask(http->decoder, http->config->munge_socket, credential, payload, on_decoded,
                    call) == 0)
        return GATE_LATER;
    return problem_set(&call->problem, 503, "busy", NULL,
                       "too many MUNGE credentials wait for munged; try again");
}

/* Each time anew: a token may expire while the body comes, and its reservation may end. */
static int judge_token(struct call *call, const char *shown)
{
    struct tokenproof *proof = call->token;
    if (engine_role(call->http->engine) != ROLE_LEADER)
        return gate_refuse_role(call);
    if (call->route->need != NEED_BEARER && call->route->need != NEED_LOOK)
        return problem_set(&call->problem, 401, "token-elsewhere", "Authorization",
                           "tokens are accepted for /v1/reservation and the paths below it "
                           "only; send this request without the token");
    if (!proof)
        proof = call->token = memory_zeroed(sizeof *proof);
    call->identity = (struct identity){0};
    if (tokencheck_judge(call->http, secret_of(shown), proof, &call->problem) < 0)
        return -1;
    call->identity.proof = (struct proof){.kind = PROOF_BEARER, .token = proof};
    peer_settle(call->peer, &call->identity);
    return 0;
}

const struct identity *gate_refresh(struct call *call)
{
    if (call->identity.proof.kind == PROOF_BEARER || call->identity.proof.kind == PROOF_PLUGIN)
        return &call->identity; /* no rights of the site's are in it */
    if (call->identity.proof.kind == PROOF_MUNGE)
        call->identity = rights_judge(call->http->rights, &call->identity.proof);
    else
        call->identity = *peer_identity(call->peer);
    return &call->identity;
}

/* A certificate of a cluster's resource manager counts alone: Slurm shows a password besides. */
static int find_plugin(struct call *call, const char *authorization)
{
    struct pluginlogins *logins = call->http->plugin_logins;
    const int64_t now_ms = engine_now_ms(call->http->engine);
    struct authorization shown;
    const char *cluster = NULL;
    bool former = false;
    call->identity = *peer_identity(call->peer); /* a login is judged again, too */
    if (peer_fault(call->peer))
        return refuse_certificate(call);
    const char *proved = rights_only_cluster(call->http->rights, &call->identity);
    if (proved && call->phase == CALL_READING && pluginlogins_use(logins, proved))
        pluginlogins_used(logins, proved, false, now_ms);
    if (!authorization || proved)
        return 0;
    if (authorization_read(authorization, &shown, &call->problem) < 0)
        return -1;
    if (shown.scheme == AUTHORIZATION_BASIC)
        cluster = pluginlogins_basic(logins, shown.shown, &former);
    else if (shown.scheme == AUTHORIZATION_BEARER)
        cluster = pluginlogins_token(logins, secret_of(shown.shown), now_ms);
    if (!cluster)
        return problem_set(
            &call->problem, 401, "login-refused", "Authorization",
            "the login is none of a cluster here: Slurm's fm_authdir and "
            "plugin_login in mcastd.conf must have the same (an access token that "
            "was given before the broker's start, or an hour ago, is asked for anew). A job's own "
            "token is for trees only here: what cleans up after steps asks the broker (MCAST_URL)");
    if (call->phase == CALL_READING) /* not a second time, when its body is there */
        pluginlogins_used(logins, cluster, former, now_ms);
    const struct proof proof = {.kind = PROOF_PLUGIN, .cluster = cluster};
    call->identity = rights_judge(call->http->rights, &proof);
    peer_settle(call->peer, &call->identity);
    return 0;
}

/* What is shown with the request counts, and else what the connection shows. payload: NULL: it is
 * too late to have a MUNGE credential decoded. */
static int find_identity(struct call *call, const char *payload)
{
    const char *authorization = call_header(call, MHD_HTTP_HEADER_AUTHORIZATION);
    struct authorization shown;
    if (!permit_looks(call->route->need, call->http->config->metrics_anonymous))
        return 0;
    if (call->route->need == NEED_PLUGIN)
        return find_plugin(call, authorization);
    if (!authorization) {
        gate_refresh(call);
        return peer_fault(call->peer) ? refuse_certificate(call) : 0;
    }
    if (authorization_read(authorization, &shown, &call->problem) < 0)
        return -1;
    if (shown.scheme == AUTHORIZATION_BASIC)
        return problem_set(&call->problem, 401, "unknown-scheme", "Authorization",
                           "the scheme of Authorization is not supported here; use Munge or "
                           "Bearer");
    if (shown.scheme == AUTHORIZATION_BEARER)
        return judge_token(call, shown.shown);
    return payload ? ask_munged(call, shown.shown, payload) : 0;
}

/* A node that is not believed must not take the answer for other users for that of
 * its own jobs: it would take active jobs for jobs that are over. */
static int check_origin(struct call *call)
{
    char why[sizeof call->problem.detail];
    if (!call->origin || origin_holds(call->origin) || call->route->need == NEED_LOOK)
        return 0;
    return gate_forbid(call, origin_explain(call->origin, why, sizeof why));
}

static int check_identity(struct call *call)
{
    const struct http *http = call->http;
    const struct target *target = &call->target;
    const char *node = named_node(call), *cluster = "";
    if (target->segment_count > 2)
        cluster = target->segments[2];
    if (check_origin(call) < 0)
        return -1;
    const char *lacks = permit_lacks(http->rights, &call->identity, call->route->need, cluster,
                                     node ? node : "", http->config->metrics_anonymous);
    if (lacks == PERMIT_NO_IDENTITY)
        return problem_set(&call->problem, 401, "no-identity", NULL,
                           "%s: send %s%sor use the Unix socket %s on the broker's host", lacks,
                           http->tls && tls_authorities(http->tls) ? "a client certificate, " : "",
                           http->config->munge_socket[0] != '\0' ? "a MUNGE credential, " : "",
                           http->config->socket);
    if (lacks == PERMIT_NO_LOGIN)
        return problem_set(&call->problem, 401, "no-login", "Authorization",
                           "%s: a user and a password, or an access token (plugin_login in "
                           "mcastd.conf)",
                           lacks);
    if (lacks == PERMIT_NO_TOKEN)
        return problem_set(&call->problem, 401, "no-token", "Authorization",
                           "%s: send it with \"Authorization: Bearer TOKEN\"", lacks);
    return lacks ? gate_forbid(call, lacks) : 0;
}

/* ---- the rest ---- */

static int check_stopping(struct call *call)
{
    if (!call->http->quiescing)
        return 0;
    /* libfabric repeats what is answered 409, and does without trees after anything else (B9). */
    return problem_set(&call->problem, call->peer->listener->front ? 409 : 503, "stopping", NULL,
                       "the broker is stopping; try again when it is back");
}

int gate_refuse_role(struct call *call)
{
    const struct engine *engine = call->http->engine;
    const struct leadership_facts *facts = leadership_facts(engine_leadership(engine));
    const char *leader = facts && facts->leader[0] != '\0' ? facts->leader : NULL;
    if (leader && facts->phase == LEADER_STANDBY)
        problem_set(&call->problem, 503, "not-leader", NULL,
                    "this broker is a standby: ask %s, which leads, or name all brokers, with "
                    "commas between them, in MCAST_URL",
                    leader);
    else
        problem_set(&call->problem, 503, "not-leader", NULL,
                    "this broker is %s and serves no requests; try again",
                    broker_role_word(engine_role(engine)));
    call->problem.leader = leader;
    return -1;
}

static int check_role(struct call *call)
{
    if (call->route->always || engine_role(call->http->engine) == ROLE_LEADER)
        return 0;
    return gate_refuse_role(call);
}

/* A body without a type is taken for JSON; one that says it is something else is not read. */
static int check_type(struct call *call)
{
    static const char json[] = "application/json";
    if (!call->route->body_max || call->route->form)
        return 0;
    const char *type = call_header(call, MHD_HTTP_HEADER_CONTENT_TYPE);
    if (!type || (!strncasecmp(type, json, sizeof json - 1) &&
                  (type[sizeof json - 1] == '\0' || strchr("; \t", type[sizeof json - 1]))))
        return 0;
    return problem_set(&call->problem, 415, "not-json", NULL,
                       "Content-Type %.64s is not supported, use application/json", type);
}

static int check_place(struct call *call)
{
    if (!call->peer->surplus)
        return 0;
    problem_set(&call->problem, 503, "too-many-connections", NULL,
                "all %u connections are in use; try again, and keep a connection for several "
                "requests",
                call->http->quota.max);
    call->problem.retry_after = GATE_RETRY_CROWD;
    return -1;
}

int gate_admit(struct call *call)
{
    if (call->refused || check_place(call) < 0 || check_identity(call) < 0)
        return -1;
    return check_type(call);
}

int gate_judge(struct call *call, const char *method)
{
    if (check_stopping(call) < 0 || check_place(call) < 0)
        return -1;
    /* Before the target is taken apart. */
    char *payload = call_header(call, MHD_HTTP_HEADER_AUTHORIZATION)
                        ? mungecred_payload(method, call->uri)
                        : NULL;
    int rc = find_route(call, method);
    if (rc == 0)
        rc = check_role(call); /* a token can be judged by the leader only */
    if (rc == 0)
        rc = find_identity(call, payload);
    free(payload);
    return rc == 0 ? gate_admit(call) : rc;
}

/* A client that keeps the body back cannot keep a right that was taken away meanwhile, nor outlive
 * his certificate. A token is judged again, a MUNGE credential only by what it has proved. */
int gate_judge_still(struct call *call)
{
    if (call->identity.proof.kind != PROOF_MUNGE)
        return find_identity(call, NULL) < 0 ? -1 : call->token ? 0 : check_identity(call);
    gate_refresh(call);
    return check_identity(call);
}

int gate_judge_again(struct call *call)
{
    const struct engine *engine = call->http->engine;
    if (check_stopping(call) < 0 || check_role(call) < 0 || gate_judge_still(call) < 0)
        return -1;
    const char *fault = call->route->changes ? engine_storage_fault(engine) : NULL;
    if (!fault)
        return 0;
    problem_set(&call->problem, 503, "storage", NULL,
                "the ledger cannot be saved, so changes are refused: %s; try again when that "
                "is repaired",
                fault);
    call->problem.retry_after = GATE_RETRY_STORAGE;
    return -1;
}
