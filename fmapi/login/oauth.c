/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/login/oauth.h"

#include "base/memory.h"
#include "fmapi/wire/credential.h"
#include "fmapi/wire/secrets.h"

#include <assert.h>
#include <curl/curl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    ERROR_WORD_MAX = 64,
    LEAD_MAX_MS = 3600 * 1000, /* leaves an operator time to correct the endpoint */
    RETRY_MIN_MS = 250,
    RETRY_MAX_MS = 60 * 1000,
};

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

int64_t lifetime_of_seconds(double seconds)
{
    if (!(seconds > 0)) /* also not a number */
        return LIFETIME_UNKNOWN;
    if (seconds >= (double)LIFETIME_MAX_MS / 1000)
        return LIFETIME_MAX_MS;
    return seconds * 1000 < LIFETIME_MIN_MS ? LIFETIME_MIN_MS : (int64_t)(seconds * 1000);
}

int64_t lifetime_renew_ms(int64_t lifetime)
{
    assert(lifetime >= LIFETIME_MIN_MS && lifetime <= LIFETIME_MAX_MS);
    int64_t lead = lifetime / 4;
    return lifetime - (lead < LEAD_MAX_MS ? lead : LEAD_MAX_MS);
}

int64_t lifetime_retry_ms(int64_t left_ms)
{
    int64_t pause = left_ms / 4;
    if (left_ms <= RETRY_MIN_MS)
        return -1;
    return pause < RETRY_MIN_MS ? RETRY_MIN_MS : pause > RETRY_MAX_MS ? RETRY_MAX_MS : pause;
}

/* Percent-encoded, as RFC 6749 wants it; Slurm omits that. To be freed with free_escaped. */
static char *escape(struct secret text)
{
    return memory_must(curl_easy_escape(NULL, secret_expose(text), 0));
}

static void free_escaped(char *text)
{
    explicit_bzero(text, strlen(text));
    curl_free(text);
}

struct request oauth_request(const struct oauthclient *client)
{
    char *id = escape(client->id);
    char *secret = escape(client->secret);
    const struct request request = {
        .method = "POST",
        .url = memory_text(secret_expose(client->endpoint)),
        .body = memory_format(
            "grant_type=client_credentials&client_id=%s&client_secret=%s&scope=openid", id, secret),
        .body_type = "application/x-www-form-urlencoded",
        .repeatable = true, /* one token more */
        .answer_max = OAUTH_ANSWER_MAX};
    free_escaped(id);
    free_escaped(secret);
    return request;
}

static const char *next_step(const char *error, int status)
{
    if (strcmp(error, "invalid_client") == 0 || (error[0] == '\0' && status == 401))
        return "; check client-id and client-secret in ";
    if (strcmp(error, "unauthorized_client") == 0 || strcmp(error, "unsupported_grant_type") == 0)
        return "; the client must be allowed the grant type client_credentials; see client-id in ";
    if (status == 404 || (status >= 300 && status <= 399))
        return "; is it the token endpoint's final URL? See endpoint in ";
    return NULL;
}

/* RFC 6749, 5.2; some servers answer so with 200. */
static int decode_refusal(const json_t *object, const struct secrets *secrets, const char *authdir,
                          int status, struct error *err)
{
    char error[ERROR_WORD_MAX + 1];
    char description[WORDS_MAX + 1];
    secrets_clean(secrets, json_string_value(json_object_get(object, "error")), error,
                  sizeof error);
    secrets_clean(secrets, json_string_value(json_object_get(object, "error_description")),
                  description, sizeof description);
    const char *step = next_step(error, status);
    int code =
        status >= 400 && status <= 499 && status != 408 && status != 429 ? ERROR_REFUSED : ERROR_IO;

    return error_set(err, code, "HTTP %d%s%s%s%s%s%s%s", status, error[0] != '\0' ? ": " : "",
                     error, description[0] != '\0' ? ": " : "", description,
                     error[0] == '\0' && description[0] == '\0' ? " without a reason" : "",
                     step ? step : "", step ? authdir : "");
}

/* A number's text has no sign, exponent or letters: "inf" and "-1" are no lifetimes. */
static double seconds_of(const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text)
        return json_number_value(value); /* 0 for what is no number */
    return strspn(text, "0123456789.") == strlen(text) ? strtod(text, NULL) : 0;
}

static int decode_grant(struct oauth_grant *out, const json_t *object,
                        const struct secrets *secrets, int status, struct error *err)
{
    const json_t *token = json_object_get(object, "access_token");
    const json_t *type = json_object_get(object, "token_type");
    if (!json_is_string(token) ||
        !credential_text_valid(json_string_value(token), json_string_length(token),
                               OAUTH_TOKEN_MAX))
        return error_set(err, ERROR_IO, "HTTP %d: the answer has %s access_token", status,
                         !token ? "no" : "no usable");
    if (json_is_string(type) && strcasecmp(json_string_value(type), "bearer") != 0) {
        char word[ERROR_WORD_MAX + 1];
        secrets_clean(secrets, json_string_value(type), word, sizeof word);
        return error_set(err, ERROR_IO,
                         "HTTP %d: the token is of type %s; only Bearer is understood", status,
                         word);
    }
    out->token = secret_copy(secret_of(json_string_value(token)));
    out->lifetime_ms = lifetime_of_seconds(seconds_of(json_object_get(object, "expires_in")));
    return 0;
}

int oauth_decode(struct oauth_grant *out, const struct oauthclient *client, const char *authdir,
                 int status, const char *body, size_t length, struct error *err)
{
    /* Numbers beyond an integer's range are numbers all the same. */
    json_t *object = length > 0 ? json_loadb(body, length, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    const char *token = json_string_value(json_object_get(object, "access_token"));
    char *escaped = escape(client->secret);
    struct secrets secrets = {0};
    int code;
    *out = (struct oauth_grant){.lifetime_ms = LIFETIME_UNKNOWN};
    (void)secrets_add(&secrets, secret_expose(client->secret));
    (void)secrets_add(&secrets, escaped);
    (void)secrets_add(&secrets, token ? token : "");
    if (json_is_object(object) && status >= 200 && status <= 299 &&
        !json_object_get(object, "error"))
        code = decode_grant(out, object, &secrets, status, err);
    else if (json_is_object(object) || (length == 0 && status > 299))
        code = decode_refusal(object, &secrets, authdir, status, err);
    else
        code = error_set(err, ERROR_IO,
                         "HTTP %d: the answer is no JSON object; is it a token endpoint? "
                         "See endpoint in %s",
                         status, authdir);
    free_escaped(escaped);
    json_decref(object);
    return code;
}
