#include "broker/http/http.h"

#include "broker/http/call.h"
#include "broker/http/change.h"
#include "broker/http/peer.h"
#include "broker/http/stream.h"

#include <stdlib.h>

void change_release(struct http_change *change)
{
    rights_destroy(change->rights);
    *change = (struct http_change){0};
}

int change_read(struct http_change *change, const struct http_options *options, struct error *err)
{
    *change = (struct http_change){.metrics_anonymous = options->metrics_anonymous};
    change->rights = rights_create(options->admins, options->clusters, options->cluster_count, err);
    return change->rights ? 0 : ERROR_INVALID;
}

void change_apply(struct http *http, struct http_change *change)
{
    struct rights *old = http->rights;
    http->rights = change->rights;
    http->metrics_anonymous = change->metrics_anonymous;
    http->generation++;
    change->rights = old;
    change_release(change);
}

/* ---- http.h ---- */

struct http_change *http_prepare(const struct http *http, const struct http_options *options,
                                 struct error *err)
{
    (void)http;
    struct http_change *change = calloc(1, sizeof *change);
    if (!change) {
        error_set(err, ERROR_NOMEM, "no memory for a reload");
        return NULL;
    }
    if (change_read(change, options, err) < 0) {
        http_discard(NULL, change);
        return NULL;
    }
    return change;
}

void http_adopt(struct http *http, struct http_change *change)
{
    change_apply(http, change);
    free(change);
    for (struct call *call = http->calls; call; call = call->next)
        call->identity = rights_judge(http->rights, &call->identity.proof);
    stream_wake_all(http, false); /* those who may not listen any more */
}

void http_discard(struct http *http, struct http_change *change)
{
    (void)http;
    if (!change)
        return;
    change_release(change);
    free(change);
}
