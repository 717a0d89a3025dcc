/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/plainhttp.h"

#include "tests/system/rig/secretscan.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_S = 180, URL_SIZE = 2048 };

struct plainhttp {
    CURL *curl;
    char *base;
    char error[CURL_ERROR_SIZE];
};

struct plainhttp *plainhttp_create(const char *base, const char *socket)
{
    struct plainhttp *http = calloc(1, sizeof *http);

    if (!http || !(http->base = strdup(base)) || !(http->curl = curl_easy_init())) {
        plainhttp_destroy(http);
        return NULL;
    }
    curl_easy_setopt(http->curl, CURLOPT_UNIX_SOCKET_PATH, socket);
    curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->error);
    curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, (long)CALL_TIMEOUT_S);
    curl_easy_setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(http->curl, CURLOPT_PROXY, "");
    return http;
}

void plainhttp_destroy(struct plainhttp *http)
{
    if (!http)
        return;
    curl_easy_cleanup(http->curl);
    free(http->base);
    free(http);
}

int plainhttp_use_basic(struct plainhttp *http, const char *user_password)
{
    curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    return curl_easy_setopt(http->curl, CURLOPT_USERPWD, user_password) == CURLE_OK ? 0 : -1;
}

int plainhttp_trust_anyone(struct plainhttp *http)
{
    curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    return curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYPEER, 0L) == CURLE_OK ? 0 : -1;
}

int plainhttp_use_certificate(struct plainhttp *http, const char *ca, const char *cert,
                              const char *key)
{
    return curl_easy_setopt(http->curl, CURLOPT_CAINFO, ca) == CURLE_OK &&
                   curl_easy_setopt(http->curl, CURLOPT_SSLCERT, cert) == CURLE_OK &&
                   curl_easy_setopt(http->curl, CURLOPT_SSLKEY, key) == CURLE_OK
               ? 0
               : -1;
}

int plainhttp_set_timeout(struct plainhttp *http, long ms)
{
    return curl_easy_setopt(http->curl, CURLOPT_TIMEOUT_MS, ms) == CURLE_OK ? 0 : -1;
}

int plainhttp_use_bearer(struct plainhttp *http, const char *token)
{
    curl_easy_setopt(http->curl, CURLOPT_USERPWD, NULL);
    curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    return curl_easy_setopt(http->curl, CURLOPT_XOAUTH2_BEARER, token) == CURLE_OK ? 0 : -1;
}

void plainhttp_reply_release(struct plainhttp_reply *reply)
{
    json_decref(reply->json);
    free(reply->text);
    *reply = (struct plainhttp_reply){0};
}

static size_t gather(char *data, size_t size, size_t count, void *arg)
{
    struct plainhttp_reply *reply = arg;
    char *longer = realloc(reply->text, reply->length + size * count + 1);

    if (!longer)
        return 0;
    reply->text = longer;
    memcpy(reply->text + reply->length, data, size * count);
    reply->length += size * count;
    reply->text[reply->length] = '\0';
    return size * count;
}

static bool perform(struct plainhttp *http, const char *method, const char *path, const char *body,
                    struct plainhttp_reply *reply)
{
    char url[URL_SIZE];
    long status = 0;
    struct curl_slist *headers = curl_slist_append(NULL, "Cache-Control: no-cache");

    *reply = (struct plainhttp_reply){.text = calloc(1, 1)};
    snprintf(url, sizeof url, "%s%s", http->base, path);
    curl_easy_setopt(http->curl, CURLOPT_URL, url);
    if (body) {
        headers = curl_slist_append(headers, "Content-Type: application/json");
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, body);
    } else {
        curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, gather);
    curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, reply);
    const CURLcode code = curl_easy_perform(http->curl);
    curl_slist_free_all(headers);
    if (code != CURLE_OK || !reply->text) {
        plainhttp_reply_release(reply);
        return false;
    }
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
    reply->status = (int)status;
    return true;
}

/* Refusals, and what is not about one job. */
static bool may_hold_no_secret(const char *path, int status)
{
    static const char *const pages[] = {"/metrics", "/v1/status", "/v1/events", "/v1/doctor",
                                        "/v1/whoami"};

    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (strncmp(path, pages[i], strlen(pages[i])) == 0)
            return true;
    return status >= 400;
}

int plainhttp_call(struct plainhttp *http, const char *method, const char *path, const char *body,
                   struct plainhttp_reply *reply)
{
    if (!perform(http, method, path, body, reply))
        fprintf(stderr, "%s %s: %s\n", method, path, http->error);
    else
        reply->json = json_loadb(reply->text, reply->length, JSON_DECODE_ANY, NULL);
    if (reply->text && may_hold_no_secret(path, reply->status))
        secretscan_fail_if_text(reply->text, reply->length, path);
    return reply->status;
}

int plainhttp_probe(struct plainhttp *http, const char *path)
{
    struct plainhttp_reply reply;
    int status = 0;

    if (perform(http, "GET", path, NULL, &reply))
        status = reply.status;
    plainhttp_reply_release(&reply);
    return status;
}
