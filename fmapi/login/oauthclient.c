#include "fmapi/login/oauthclient.h"

#include "fmapi/wire/baseurl.h"
#include "fmapi/wire/keyfile.h"

#include <limits.h>
#include <stdio.h>

static int read_one(const char *authdir, const char *name, const struct keyfile *kind,
                    struct secret *out, struct error *err)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", authdir, name) >= (int)sizeof path)
        return error_set(err, ERROR_INVALID, "the name of the login's directory is too long");
    return keyfile_line(path, kind, out, err);
}

int oauthclient_read(const char *authdir, struct oauthclient *out, struct error *err)
{
    static const struct keyfile endpoint = {
        .holds = "the URL of the OAuth2 token endpoint", .guard = KEYFILE_TRUSTED, .max = 2048};
    static const struct keyfile id = {
        .holds = "the OAuth2 client's id", .guard = KEYFILE_TRUSTED, .max = 1024};
    static const struct keyfile secret = {
        .holds = "the OAuth2 client's secret", .guard = KEYFILE_SECRET, .max = 4096};

    *out = (struct oauthclient){0};
    int code = read_one(authdir, "endpoint", &endpoint, &out->endpoint, err);
    if (code == 0 && (code = baseurl_check(secret_expose(out->endpoint), "the URL", err)) != 0)
        (void)error_prefix(err, "%s/endpoint", authdir);
    if (code == 0 && !baseurl_private(secret_expose(out->endpoint)))
        code = error_set(err, ERROR_REFUSED,
                         "%s/endpoint: with http everyone on the way could read the client's "
                         "secret: write the https URL of the token endpoint into it",
                         authdir);
    if (code == 0)
        code = read_one(authdir, "client-id", &id, &out->id, err);
    if (code == 0)
        code = read_one(authdir, "client-secret", &secret, &out->secret, err);
    if (code != 0)
        oauthclient_wipe(out);
    return code;
}

bool oauthclient_equal(const struct oauthclient *a, const struct oauthclient *b)
{
    return secret_equal(a->endpoint, b->endpoint) && secret_equal(a->id, b->id) &&
           secret_equal(a->secret, b->secret);
}

void oauthclient_wipe(struct oauthclient *client)
{
    secret_wipe(&client->endpoint);
    secret_wipe(&client->id);
    secret_wipe(&client->secret);
}
