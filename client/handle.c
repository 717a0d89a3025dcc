#include "client/handle.h"
#include "client/envnames.h"
#include "client/fault.h"
#include "client/field.h"
#include "client/problem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_LENGTH_MAX = 4096 };

int mcast_open(struct mcast **out, const char *url, struct mcast_error *error)
{
    struct endpoint endpoint;
    int rc = endpoint_find(&endpoint, url, error);
    if (rc < 0)
        return rc;
    struct mcast *handle = calloc(1, sizeof(*handle));
    if (!handle)
        return fault_nomem(error);
    rc = transport_create(&handle->transport, &endpoint, error);
    if (rc < 0) {
        free(handle);
        return rc;
    }
    *out = handle;
    return 0;
}

void mcast_close(struct mcast *handle)
{
    if (!handle)
        return;
    int saved = errno;
    transport_destroy(handle->transport);
    secret_wipe(&handle->token);
    free(handle);
    errno = saved;
}

int mcast_set_timeout(struct mcast *handle, unsigned milliseconds, struct mcast_error *error)
{
    if (milliseconds == 0 || milliseconds > INT32_MAX)
        return fault_set(error, MCAST_USAGE, "a timeout of %u ms is not allowed: 1 to %d",
                         milliseconds, INT32_MAX);
    transport_set_timeout(handle->transport, milliseconds);
    return 0;
}

int mcast_set_patience(struct mcast *handle, unsigned milliseconds, mcast_wait_fn *on_wait,
                       void *data, struct mcast_error *error)
{
    if (milliseconds > INT32_MAX)
        return fault_set(error, MCAST_USAGE, "a patience of %u ms is not allowed: 0 to %d",
                         milliseconds, INT32_MAX);
    handle->patience = (struct waits){milliseconds, on_wait, data};
    return 0;
}

int mcast_set_cacert(struct mcast *handle, const char *path, struct mcast_error *error)
{
    return credentials_set_cacert(transport_credentials(handle->transport), path, error);
}

int mcast_set_certificate(struct mcast *handle, const char *cert, const char *key,
                          struct mcast_error *error)
{
    return credentials_set_certificate(transport_credentials(handle->transport), cert, key, error);
}

int mcast_set_munge(struct mcast *handle, enum mcast_munge use, const char *socket,
                    struct mcast_error *error)
{
    return credentials_set_munge(transport_credentials(handle->transport), use, socket, error);
}

int mcast_set_server_user(struct mcast *handle, const char *user, struct mcast_error *error)
{
    return credentials_set_server_user(transport_credentials(handle->transport), user, error);
}

int mcast_set_node(struct mcast *handle, const char *node, struct mcast_error *error)
{
    return credentials_set_node(transport_credentials(handle->transport), node, error);
}

int mcast_clock_ahead(struct mcast *handle, int64_t *ahead_ms, struct mcast_error *error)
{
    if (transport_clock_ahead(handle->transport, ahead_ms))
        return 0;
    return fault_set(error, MCAST_UNCLEAR, "mcastd at %s has not told its time yet",
                     transport_peer(handle->transport));
}

/* What would end a header's line, or is nowhere in a token (RFC 6750: b64token). */
static bool token_possible(const char *token)
{
    size_t length = strnlen(token, TOKEN_LENGTH_MAX + 1);
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] >= 0x7f)
            return false;
    return length > 0 && length <= TOKEN_LENGTH_MAX;
}

static int take_token(struct mcast *handle, const char *token, struct mcast_error *error)
{
    if (!token_possible(token))
        return fault_set(error, MCAST_USAGE,
                         "this is no token: 1 to %d printable ASCII characters without a space",
                         TOKEN_LENGTH_MAX);
    char *copy = strdup(token);
    if (!copy)
        return fault_nomem(error);
    secret_wipe(&handle->token);
    handle->token = secret_of(copy);
    return 0;
}

int mcast_set_token(struct mcast *handle, const char *token, struct mcast_error *error)
{
    if (token)
        return take_token(handle, token, error);
    secret_wipe(&handle->token);
    return 0;
}

int handle_no_token(struct mcast_error *error)
{
    return fault_set(error, MCAST_USAGE,
                     "no token is given: set MCAST_TOKEN to the job's (in its tasks it is %s)",
                     envnames[ENVNAME_TOKEN]);
}

/* What was not set comes from the environment. */
static int settle_token(struct mcast *handle, struct mcast_error *error)
{
    const char *given = secure_getenv("MCAST_TOKEN");
    if (!secret_none(handle->token) || !given || !given[0])
        return 0;
    return take_token(handle, given, error);
}

int handle_bear(struct mcast *handle, struct call *call, struct mcast_error *error)
{
    int rc = settle_token(handle, error);
    if (rc == 0 && secret_none(handle->token))
        rc = handle_no_token(error);
    call->token = handle->token;
    return rc;
}

int handle_copy_token(struct mcast *handle, struct secret *out, struct mcast_error *error)
{
    int rc = settle_token(handle, error);
    if (rc < 0 || secret_none(handle->token))
        return rc;
    char *copy = strdup(secret_expose(handle->token));
    if (!copy)
        return fault_nomem(error);
    *out = secret_of(copy);
    return 0;
}

void mcast_stop(struct mcast *handle)
{
    transport_stop(handle->transport);
}

const char *mcast_version(void)
{
    return MCAST_VERSION;
}

static int ask(struct mcast *handle, const struct call *call, struct answer *answer,
               struct mcast_error *error)
{
    int rc = transport_call(handle->transport, call, answer, error);
    if (rc == 0) {
        rc = problem_judge(answer, transport_peer(handle->transport),
                           transport_unproved(handle->transport), error);
        if (rc < 0)
            text_release(&answer->body);
    }
    return rc;
}

int handle_call(struct mcast *handle, const struct call *call, struct answer *answer,
                struct mcast_error *error)
{
    struct waits_call waits;
    struct mcast_error why; /* what it says decides about asking again */
    int rc;
    waits_begin(&waits, &handle->patience, handle->transport);
    do
        rc = ask(handle, call, answer, &why);
    while (rc < 0 && waits_again(&waits, &why));
    if (rc == 0)
        return 0;
    if (error)
        *error = why;
    return why.code;
}

int handle_run(struct mcast *handle, const struct errand *errand, struct result *result,
               struct mcast_error *error)
{
    struct answer answer;
    struct call call = errand_call(errand, secret_of(NULL));
    int rc = errand->borne ? handle_bear(handle, &call, error) : 0;
    if (rc == 0)
        rc = handle_call(handle, &call, &answer, error);
    if (rc < 0)
        return rc;
    if (result)
        rc = errand->read(&answer, result, error);
    if (rc < 0)
        result_release(result);
    text_release(&answer.body);
    return rc;
}

int handle_call_json(struct mcast *handle, const struct call *call, json_t **root,
                     struct mcast_error *error)
{
    struct answer answer;
    int rc = handle_call(handle, call, &answer, error);
    if (rc < 0)
        return rc;
    rc = field_parse(text_string(&answer.body), answer.body.length, root, error);
    text_release(&answer.body);
    return rc;
}
