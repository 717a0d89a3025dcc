#include "fmapi/fmapi.h"

#include "fmapi/wire/baseurl.h"
#include "fmapi/call.h"

#include <assert.h>
#include <stdlib.h>

static int check_options(const struct fmapi_options *options, struct error *err)
{
    if (options->auth != FMAPI_AUTH_NONE && options->authdir == NULL)
        return error_set(err, ERROR_INVALID,
                         "the login needs the directory that holds its files (authdir)");
    if ((options->mtls_cert == NULL) != (options->mtls_key == NULL))
        return error_set(err, ERROR_INVALID,
                         "a client certificate needs its key and a key its certificate");
    if (options->timeout_ms < 1 || options->timeout_ms > INT32_MAX)
        return error_set(err, ERROR_INVALID, "the timeout of a call must be 1 ms to 24 days");
    if (options->parallel < 1)
        return error_set(err, ERROR_INVALID, "at least one call must be allowed at a time");
    return 0;
}

static struct loginfiles files_of(const struct fmapi_options *options)
{
    return (struct loginfiles){.auth = options->auth,
                               .authdir = options->authdir,
                               .mtls_cert = options->mtls_cert,
                               .mtls_key = options->mtls_key};
}

int fmapi_check(const struct fmapi_options *options, struct error *err)
{
    struct loginfiles files = files_of(options);
    struct loginfiles_found found;
    int code = check_options(options, err);
    if (code == 0 && (code = loginfiles_read(&files, &found, err)) == 0)
        loginfiles_wipe(&found);
    return code;
}

static int copy_urls(struct fmapi *api, const struct fmapi_options *options, struct error *err)
{
    for (unsigned i = 0; i < FMAPI_URLS_MAX && options->urls[i] != NULL; i++) {
        api->bases[i] = baseurl_create(options->urls[i], err);
        if (api->bases[i] == NULL)
            return ERROR_INVALID;
    }
    api->base = api->bases[0];
    return api->base != NULL ? 0 : error_set(err, ERROR_INVALID, "no base URL is given");
}

static void free_urls(struct fmapi *api)
{
    for (unsigned i = 0; i < FMAPI_URLS_MAX; i++)
        free(api->bases[i]);
}

static void nothing(void *arg)
{
    (void)arg;
}

struct fmapi *fmapi_create(uv_loop_t *loop, const struct fmapi_options *options, struct error *err)
{
    struct login_options login = {
        .files = files_of(options),
        .transport = {.ca = options->ca,
                      .verify = options->verify != 0,
                      .parallel = options->parallel},
        .timeout_ms = options->timeout_ms,
    };

    if (check_options(options, err) != 0)
        return NULL;
    struct fmapi *api = calloc(1, sizeof *api);
    if (api == NULL || (api->login = login_create(loop, &login)) == NULL) {
        error_set(err, ERROR_NOMEM, "memory is exhausted");
        goto fail;
    }
    /* The session last: it holds handles of the loop, which take a turn of it to close. */
    if (copy_urls(api, options, err) != 0 ||
        (api->session = session_create(loop, api->login, &login.transport, err)) == NULL)
        goto fail;
    api->loop = loop;
    api->timeout_ms = options->timeout_ms;
    api->unverified = options->verify == 0;
    return api;

fail:
    if (api != NULL) {
        login_destroy(api->login, nothing, NULL);
        free_urls(api);
    }
    free(api);
    return NULL;
}

static void on_session_closed(void *arg)
{
    struct fmapi *api = arg;
    void (*closed)(void *closed_arg) = api->closed;
    void *closed_arg = api->closed_arg;
    assert(api->under_way == 0);
    free_urls(api);
    free(api);
    closed(closed_arg);
}

void fmapi_destroy(struct fmapi *api, void (*closed)(void *arg), void *arg)
{
    if (api == NULL)
        return;
    assert(!api->closing);
    api->closing = true;
    api->closed = closed;
    api->closed_arg = arg;
    session_destroy(api->session, on_session_closed, api);
}

static void on_login(struct login_wait *wait, enum login_end end, int code, const char *words)
{
    struct fmapi *api = (struct fmapi *)(void *)((char *)wait - offsetof(struct fmapi, login_wait));
    fmapi_login_fn *done = api->login_done;
    api->login_done = NULL;
    if (end != LOGIN_CANCELLED && !api->closing)
        done(api->login_arg, code, words);
}

void fmapi_login(struct fmapi *api, unsigned url, fmapi_login_fn *done, void *arg)
{
    assert(!api->closing && api->login_done == NULL);
    assert(url < FMAPI_URLS_MAX && api->bases[url] != NULL);
    api->base = api->bases[url];
    api->login_done = done;
    api->login_arg = arg;
    api->login_wait.done = on_login;
    /* Files on a network's disk may never come; the token endpoint has its own limit besides. */
    api->login_wait.deadline_ns = uv_hrtime() + 2 * (uint64_t)api->timeout_ms * 1000000;
    login_renew(api->login, LOGIN_WANT_LOGIN, &api->login_wait);
}

void fmapi_counters(const struct fmapi *api, struct fmapi_counters *out)
{
    struct transport_counters transport;
    struct login_counters login;
    transport_counters(session_transport(api->session), &transport);
    login_counters(api->login, &login);
    *out = (struct fmapi_counters){.calls = transport.requests,
                                   .connections = transport.connections,
                                   .bytes_in = transport.bytes_in,
                                   .bytes_out = transport.bytes_out,
                                   .under_way = api->under_way,
                                   .logins = login.logins,
                                   .login_failures = login.failures,
                                   .renewals = login.renewals,
                                   .login_since_ms = login.since_ms,
                                   .login_expires_ms = login.expires_ms,
                                   .certificate_ends_ms = login.certificate_ends_ms,
                                   .unverified = api->unverified,
                                   .date_skew_ms = transport.skew_ms,
                                   .tls_errors = transport.tls_errors + login.tls_errors};
}
