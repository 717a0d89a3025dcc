#include "fmapi/login/oauth.h"

#include "base/memory.h"
#include "fmapi/login/lifetime.h"
#include "fmapi/wire/secrets.h"
#include "fmapi/wire/words.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ERROR_WORD_MAX = 64 };

/* Slurm forgets to percent-encode (fabric-manager.md). To be freed with free_escaped. */
static char *escape(struct secret text)
{
    return curl_easy_escape(NULL, secret_expose(text), 0);
}

static void free_escaped(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    curl_free(text);
}

int oauth_request(struct request *request, const struct oauthclient *client)
{
    char *id = escape(client->id);
    char *secret = escape(client->secret);

    *request = (struct request){.method = "POST",
                                .url = memory_text(secret_expose(client->endpoint)),
                                .body_type = "application/x-www-form-urlencoded",
                                .repeatable = true, /* one token more */
                                .answer_max = OAUTH_ANSWER_MAX};
    if (id == NULL || secret == NULL ||
        asprintf(&request->body,
                 "grant_type=client_credentials&client_id=%s&client_secret=%s&scope=openid", id,
                 secret) < 0)
        request->body = NULL;
    free_escaped(id);
    free_escaped(secret);
    if (request->body != NULL)
        return 0;
    request_release(request);
    return ERROR_NOMEM;
}

/* A member's text made fit for a log; "" when it is missing or no text. */
static void clean_member(char *out, size_t size, const json_t *object, const char *key,
                         const struct secrets *secrets)
{
    char blanked[2 * WORDS_MAX]; /* more than fits: words_clean is to see that it must cut */
    const char *value = json_string_value(json_object_get(object, key));

    out[0] = '\0';
    if (value != NULL && secrets_blank(secrets, value, blanked, sizeof blanked))
        (void)words_clean(out, size, blanked, strlen(blanked));
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
static int refuse(const json_t *object, const struct secrets *secrets, const char *authdir,
                  int status, struct error *err)
{
    char error[ERROR_WORD_MAX + 1];
    char description[WORDS_MAX + 1];
    clean_member(error, sizeof error, object, "error", secrets);
    clean_member(description, sizeof description, object, "error_description", secrets);
    const char *step = next_step(error, status);
    int code =
        status >= 400 && status <= 499 && status != 408 && status != 429 ? ERROR_REFUSED : ERROR_IO;

    return error_set(err, code, "HTTP %d%s%s%s%s%s%s%s", status, error[0] != '\0' ? ": " : "",
                     error, description[0] != '\0' ? ": " : "", description,
                     error[0] == '\0' && description[0] == '\0' ? " without a reason" : "",
                     step != NULL ? step : "", step != NULL ? authdir : "");
}

/* What goes into a header (RFC 6750, 2.1, and a little more). */
static bool usable(const char *token, size_t length)
{
    if (length < 1 || length > OAUTH_TOKEN_MAX)
        return false;
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] > '~' || token[i] == '"' || token[i] == '\\')
            return false;
    return true;
}

/* A number's text has no sign, exponent or letters: "inf" and "-1" are no lifetimes. */
static double seconds_of(const json_t *value)
{
    const char *text = json_string_value(value);

    if (text == NULL)
        return json_number_value(value); /* 0 for what is no number */
    return strspn(text, "0123456789.") == strlen(text) ? strtod(text, NULL) : 0;
}

static int take_grant(struct oauth_grant *out, const json_t *object, const struct secrets *secrets,
                      int status, struct error *err)
{
    const json_t *token = json_object_get(object, "access_token");
    const json_t *type = json_object_get(object, "token_type");

    if (!json_is_string(token) || !usable(json_string_value(token), json_string_length(token)))
        return error_set(err, ERROR_IO, "HTTP %d: the answer has %s access_token", status,
                         token == NULL ? "no" : "no usable");
    if (json_is_string(type) && strcasecmp(json_string_value(type), "bearer") != 0) {
        char word[ERROR_WORD_MAX + 1];
        clean_member(word, sizeof word, object, "token_type", secrets);
        return error_set(err, ERROR_IO,
                         "HTTP %d: the token is of type %s; only Bearer is understood", status,
                         word);
    }
    out->token = secret_copy(secret_of(json_string_value(token)));
    out->lifetime_ms = lifetime_of_seconds(seconds_of(json_object_get(object, "expires_in")));
    return 0;
}

static int decode_object(struct oauth_grant *out, const json_t *object,
                         const struct secrets *secrets, const char *authdir, int status,
                         struct error *err)
{
    bool granted = status >= 200 && status <= 299 && json_object_get(object, "error") == NULL;
    return granted ? take_grant(out, object, secrets, status, err)
                   : refuse(object, secrets, authdir, status, err);
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
    (void)secrets_add(&secrets, escaped != NULL ? escaped : "");
    (void)secrets_add(&secrets, token != NULL ? token : "");
    if (json_is_object(object) || (length == 0 && status > 299))
        code = decode_object(out, object, &secrets, authdir, status, err);
    else
        code = error_set(err, ERROR_IO,
                         "HTTP %d: the answer is no JSON object; is it a token endpoint? "
                         "See endpoint in %s",
                         status, authdir);
    free_escaped(escaped);
    json_decref(object);
    return code;
}

void oauth_grant_wipe(struct oauth_grant *grant)
{
    secret_wipe(&grant->token);
}
