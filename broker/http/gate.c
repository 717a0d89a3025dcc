#include "broker/http/gate.h"

#include "broker/http/tls.h"

#include <string.h>
#include <strings.h>

static int find_route(struct call *call, const char *method)
{
    unsigned methods;
    if (target_split(call->uri, &call->target, &call->problem) < 0)
        return -1;
    call->route = route_match(routes, ROUTES, &call->target, method_from_word(method), &methods);
    if (call->route)
        return route_check_query(call->route, &call->target, &call->problem);
    if (!methods)
        return problem_set(&call->problem, MHD_HTTP_NOT_FOUND, "no-such-path", NULL,
                           "there is nothing at this address; GET /openapi.json lists what is");
    methods_format(call->allow, sizeof call->allow, methods);
    return problem_set(&call->problem, MHD_HTTP_METHOD_NOT_ALLOWED, "method-not-allowed", NULL,
                       "%.16s is not possible here; allowed: %s", method, call->allow);
}

int gate_forbid(struct call *call, const char *lacks)
{
    char who[IDENTITY_TEXT_SIZE];
    return problem_set(&call->problem, MHD_HTTP_FORBIDDEN, "forbidden", NULL, "you are %s: %s",
                       identity_format(&call->identity.proof, who, sizeof who), lacks);
}

static int refuse_certificate(struct call *call)
{
    const char *const *names = certificate_names(call->peer->certificate);
    return problem_set(&call->problem, MHD_HTTP_UNAUTHORIZED, "certificate-refused", NULL,
                       "the certificate \"%s\" that you show is not accepted: %s",
                       names[0] ? names[0] : "", peer_fault(call->peer));
}

static int check_identity(struct call *call)
{
    const struct identity *identity = &call->identity;
    const struct http *http = call->http;
    enum need need = call->route->need;
    if (need == NEED_NOTHING || (need == NEED_METRICS && http->metrics_anonymous))
        return 0;
    call->identity = *peer_identity(call->peer);
    if (peer_fault(call->peer))
        return refuse_certificate(call);
    if (identity->proof.kind == PROOF_NONE)
        return problem_set(&call->problem, MHD_HTTP_UNAUTHORIZED, "no-identity", NULL,
                           "nothing tells who you are: show %sa MUNGE credential, or use the Unix "
                           "socket %s on the broker's host",
                           http->tls && tls_authorities(http->tls) ? "a client certificate or "
                                                                   : "",
                           http->socket_path);
    if (need == NEED_MANAGER && !identity->admin && !identity->clusters)
        return gate_forbid(call, "only an admin or the resource manager of a cluster may do this; "
                                 "see 'admins' and 'users' in the configuration");
    if (need == NEED_CLUSTER && !rights_manages(http->rights, identity, call->target.segments[2]))
        return gate_forbid(call, "only an admin or this cluster's resource manager may do this; "
                                 "see 'admins' and 'users' in the configuration");
    return 0;
}

static int check_stopping(struct call *call)
{
    if (!call->http->quiescing)
        return 0;
    return problem_set(&call->problem, MHD_HTTP_SERVICE_UNAVAILABLE, "stopping", NULL,
                       "the broker is stopping; try again when it is back");
}

/* A body without a type is taken for JSON; one that says it is something else is not read. */
static int check_type(struct call *call)
{
    static const char json[] = "application/json";
    if (!call->route->body_max)
        return 0;
    const char *type = MHD_lookup_connection_value(call->connection, MHD_HEADER_KIND,
                                                   MHD_HTTP_HEADER_CONTENT_TYPE);
    if (!type || (!strncasecmp(type, json, sizeof json - 1) &&
                  (type[sizeof json - 1] == '\0' || strchr("; \t", type[sizeof json - 1]))))
        return 0;
    return problem_set(&call->problem, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "not-json", NULL,
                       "the body is said to be %.64s; send application/json", type);
}

int gate_judge(struct call *call, const char *method)
{
    if (check_stopping(call) < 0)
        return -1;
    if (call->peer->surplus)
        return problem_set(&call->problem, MHD_HTTP_SERVICE_UNAVAILABLE, "too-many-connections",
                           NULL,
                           "all %u connections are in use; try again, and keep a connection for "
                           "several requests",
                           call->http->places.max);
    if (find_route(call, method) < 0 || check_identity(call) < 0)
        return -1;
    return check_type(call);
}

int gate_judge_engine(struct call *call)
{
    struct engine_counters counters;
    if (check_stopping(call) < 0)
        return -1;
    if (call->route->always)
        return 0;
    engine_counters(call->http->engine, &counters);
    if (counters.role != ROLE_LEADER)
        return problem_set(&call->problem, MHD_HTTP_SERVICE_UNAVAILABLE, "not-leader", NULL,
                           "this broker is %s and does not serve; try again",
                           broker_role_word(counters.role));
    if (!counters.storage_failing || !call->route->changes)
        return 0;
    problem_set(&call->problem, MHD_HTTP_SERVICE_UNAVAILABLE, "storage", NULL,
                "nothing can be saved, so nothing can be changed: %s; try again when that is "
                "mended",
                counters.storage_error);
    call->problem.retry_after = GATE_RETRY_STORAGE;
    return -1;
}
