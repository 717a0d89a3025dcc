#include "tests/system/rig/http.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_S = 60, URL_SIZE = 2048 };

struct http {
    CURL *curl;
    char *base;
    char error[CURL_ERROR_SIZE];
};

struct http *http_create(const char *base, const char *socket)
{
    struct http *http = calloc(1, sizeof *http);

    if (!http || !(http->base = strdup(base)) || !(http->curl = curl_easy_init())) {
        http_destroy(http);
        return NULL;
    }
    curl_easy_setopt(http->curl, CURLOPT_UNIX_SOCKET_PATH, socket);
    curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->error);
    curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, (long)CALL_TIMEOUT_S);
    curl_easy_setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(http->curl, CURLOPT_PROXY, "");
    return http;
}

void http_destroy(struct http *http)
{
    if (!http)
        return;
    curl_easy_cleanup(http->curl);
    free(http->base);
    free(http);
}

int http_use_basic(struct http *http, const char *user_password)
{
    curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    return curl_easy_setopt(http->curl, CURLOPT_USERPWD, user_password) == CURLE_OK ? 0 : -1;
}

int http_use_bearer(struct http *http, const char *token)
{
    curl_easy_setopt(http->curl, CURLOPT_USERPWD, NULL);
    curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    return curl_easy_setopt(http->curl, CURLOPT_XOAUTH2_BEARER, token) == CURLE_OK ? 0 : -1;
}

void http_reply_release(struct http_reply *reply)
{
    json_decref(reply->json);
    free(reply->text);
    *reply = (struct http_reply){0};
}

static size_t gather(char *data, size_t size, size_t count, void *arg)
{
    struct http_reply *reply = arg;
    char *longer = realloc(reply->text, reply->length + size * count + 1);

    if (!longer)
        return 0;
    reply->text = longer;
    memcpy(reply->text + reply->length, data, size * count);
    reply->length += size * count;
    reply->text[reply->length] = '\0';
    return size * count;
}

static bool perform(struct http *http, const char *method, const char *path, const char *body,
                    struct http_reply *reply)
{
    char url[URL_SIZE];
    long status = 0;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");

    *reply = (struct http_reply){.text = calloc(1, 1)};
    snprintf(url, sizeof url, "%s%s", http->base, path);
    curl_easy_setopt(http->curl, CURLOPT_URL, url);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, body ? headers : NULL);
    if (body) {
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, body);
    } else {
        curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, gather);
    curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, reply);
    const CURLcode code = curl_easy_perform(http->curl);
    curl_slist_free_all(headers);
    if (code != CURLE_OK || !reply->text) {
        http_reply_release(reply);
        return false;
    }
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
    reply->status = (int)status;
    return true;
}

int http_call(struct http *http, const char *method, const char *path, const char *body,
              struct http_reply *reply)
{
    if (!perform(http, method, path, body, reply))
        fprintf(stderr, "%s %s: %s\n", method, path, http->error);
    else
        reply->json = json_loadb(reply->text, reply->length, JSON_DECODE_ANY, NULL);
    return reply->status;
}

int http_probe(struct http *http, const char *path)
{
    struct http_reply reply;
    int status = 0;

    if (perform(http, "GET", path, NULL, &reply))
        status = reply.status;
    http_reply_release(&reply);
    return status;
}
