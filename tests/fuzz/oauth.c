/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to an OAuth2 token endpoint, and its answers (fmapi/login/oauth.h): two bytes for
 * the status, a line for the client's id, then the body. The client's secret is known, so that the
 * fuzzer can quote it. */

#include "fmapi/login/oauth.h"
#include "tests/fuzz/fuzz.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

static const char client_secret[] = "s3cr3t/with+signs&more=1";
static const char escaped_secret[] = "s3cr3t%2Fwith%2Bsigns%26more%3D1";

static void check_answer(const struct oauth_grant *grant, int code, const struct error *err)
{
    if (code != 0) {
        FUZZ_CHECK(code == err->code && err->text[0] != '\0' && fuzz_is_line(err->text));
        FUZZ_CHECK(!strstr(err->text, client_secret) && !strstr(err->text, escaped_secret));
        FUZZ_CHECK(secret_none(grant->token));
        return;
    }
    const char *token = secret_expose(grant->token);
    FUZZ_CHECK(token && token[0] != '\0' && strlen(token) <= OAUTH_TOKEN_MAX);
    for (; *token != '\0'; token++)
        FUZZ_CHECK(*token > ' ' && *token <= '~' && *token != '"' && *token != '\\');
    if (grant->lifetime_ms == LIFETIME_UNKNOWN)
        return;
    int64_t life = grant->lifetime_ms, renew = lifetime_renew_ms(life);
    FUZZ_CHECK(life >= LIFETIME_MIN_MS && life <= LIFETIME_MAX_MS);
    FUZZ_CHECK(renew > 0 && renew < life && lifetime_retry_ms(life - renew) < life);
}

/* The id comes out of the form as it went in. */
static void check_form(const struct oauthclient *client)
{
    static const char before[] = "grant_type=client_credentials&client_id=";
    struct request request;
    int length = 0;
    request = oauth_request(client);
    FUZZ_CHECK(strncmp(request.body, before, strlen(before)) == 0);
    char *id = request.body + strlen(before);
    size_t size = strcspn(id, "&");
    char *back = curl_easy_unescape(NULL, id, (int)size, &length);
    /* An empty text is one whose length curl finds out by itself. */
    FUZZ_CHECK(back && (size == 0 || strcmp(back, secret_expose(client->id)) == 0));
    FUZZ_CHECK(strncmp(id + size, "&client_secret=", 15) == 0);
    FUZZ_CHECK(strncmp(id + size + 15, escaped_secret, strlen(escaped_secret)) == 0);
    FUZZ_CHECK(strcmp(id + size + 15 + strlen(escaped_secret), "&scope=openid") == 0);
    curl_free(back);
    request_release(&request);
}

void fuzz_one(struct fuzz_input *in)
{
    int status = 100 + fuzz_pair(in) % 500;
    char *id = fuzz_line(in);
    const struct oauthclient client = {.endpoint = secret_of("https://idp/token"),
                                       .id = secret_of(id),
                                       .secret = secret_of(client_secret)};
    struct oauth_grant grant;
    struct error err = {0};
    size_t length;
    char *body = fuzz_bytes(in, &length);
    int code = oauth_decode(&grant, &client, "/etc/wlm-client-auth", status, body, length, &err);
    check_answer(&grant, code, &err);
    secret_wipe(&grant.token);
    check_form(&client);
    free(body);
    free(id);
}
