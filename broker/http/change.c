#include "broker/http/http.h"

#include "broker/http/request/call.h"
#include "broker/http/change.h"
#include "broker/http/auth/gate.h"
#include "broker/http/listen/peer.h"
#include "broker/http/auth/resolver.h"
#include "broker/http/events/stream.h"
#include "broker/http/listen/tls.h"

#include <stdlib.h>
#include <string.h>

void change_release(struct http_change *change)
{
    rights_destroy(change->rights);
    tls_drop(change->tls);
    free(change->munge_socket);
    *change = (struct http_change){0};
}

int change_read(struct http_change *change, const struct http_options *options, struct error *err)
{
    *change = (struct http_change){.metrics_anonymous = options->metrics_anonymous};
    change->rights = rights_create(options->admins, options->metrics_users, options->clusters,
                                   options->cluster_count, err);
    if (!change->rights)
        return ERROR_INVALID;
    if (options->munge_socket && !(change->munge_socket = strdup(options->munge_socket)))
        return error_set(err, ERROR_NOMEM, "no memory for the name of munged's socket");
    if (!options->tls_cert)
        return 0;
    change->tls = tls_load(options->tls_cert, options->tls_key, options->tls_client_ca, err);
    return change->tls ? 0 : ERROR_INVALID;
}

void change_apply(struct http *http, struct http_change *change)
{
    const struct http_change old = {
        .rights = http->rights, .tls = http->tls, .munge_socket = http->munge_socket};
    http->rights = change->rights;
    http->tls = change->tls;
    http->munge_socket = change->munge_socket;
    http->metrics_anonymous = change->metrics_anonymous;
    http->generation++;
    *change = old;
    change_release(change);
}

/* ---- http.h ---- */

struct http_change *http_change_read(const struct http_options *options, struct error *err)
{
    struct http_change *change = calloc(1, sizeof *change);
    if (!change) {
        error_set(err, ERROR_NOMEM, "no memory for a reload");
        return NULL;
    }
    if (change_read(change, options, err) == 0)
        return change;
    http_change_discard(change);
    return NULL;
}

/* A listening socket speaks TLS or it does not. */
int http_change_check(const struct http *http, const struct http_change *change, struct error *err)
{
    if (!http->doors[DOOR_TCP].server || !http->tls == !change->tls)
        return 0;
    return error_set(err, ERROR_INVALID, "tls_cert: TLS is turned %s by a restart only",
                     change->tls ? "on" : "off");
}

void http_adopt(struct http *http, struct http_change *change)
{
    change_apply(http, change);
    free(change);
    resolver_forget(http->resolver); /* whoever mends names need not wait */
    for (struct call *call = LIST_FIRST(&http->calls); call; call = LIST_NEXT(call, link))
        if (call->identity.proof.kind != PROOF_NONE)
            gate_refresh(call);
    stream_wake_all(http, false); /* those who may not listen any more */
}

void http_change_discard(struct http_change *change)
{
    if (!change)
        return;
    change_release(change);
    free(change);
}
