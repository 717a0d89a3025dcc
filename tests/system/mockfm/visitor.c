/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/mockfm/visitor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system/rig/await.h"

void visitor_create(struct visitor *visitor, const char *scheme, unsigned port)
{
    *visitor = (struct visitor){.curl = curl_easy_init()};
    assert_non_null(visitor->curl);
    snprintf(visitor->base, sizeof visitor->base, "%s://127.0.0.1:%u", scheme, port);
}

void visitor_destroy(struct visitor *visitor)
{
    curl_easy_cleanup(visitor->curl);
}

void visitor_hang_up(struct visitor *visitor)
{
    curl_easy_cleanup(visitor->curl);
    assert_non_null(visitor->curl = curl_easy_init());
}

static size_t take(char *bytes, size_t size, size_t count, void *cls)
{
    struct visitor_reply *reply = cls;
    char *grown = realloc(reply->text, reply->length + count + 1);

    (void)size;
    assert_non_null(grown);
    memcpy(grown + reply->length, bytes, count);
    reply->text = grown;
    reply->length += count;
    reply->text[reply->length] = '\0';
    return count;
}

static void come_as_told(const struct visitor *visitor, const char *url)
{
    CURL *curl = visitor->curl;

    curl_easy_reset(curl); /* keeps connections */
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)AWAIT_DEADLINE_MS);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, visitor->ca ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, visitor->ca ? 2L : 0L);
    curl_easy_setopt(curl, CURLOPT_CAINFO, visitor->ca);
    curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(curl, CURLOPT_SSLCERT, visitor->cert);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, visitor->key);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 | visitor->tls_max);
    if (visitor->basic)
        curl_easy_setopt(curl, CURLOPT_USERPWD, visitor->basic);
    if (visitor->bearer) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, visitor->bearer);
    }
}

static void read_header(CURL *curl, const char *name, char *out, size_t size)
{
    struct curl_header *header;

    out[0] = '\0';
    if (curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        snprintf(out, size, "%s", header->value);
}

static void read_reply(CURL *curl, struct visitor_reply *reply)
{
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &reply->http_version);
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &reply->new_connections);
    curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &reply->announced);
    read_header(curl, "Retry-After", reply->retry_after, sizeof reply->retry_after);
    read_header(curl, "WWW-Authenticate", reply->challenge, sizeof reply->challenge);
    if (reply->length > 0)
        reply->json = json_loadb(reply->text, reply->length, 0, NULL);
}

long visitor_call(struct visitor *visitor, const char *method, const char *path, const char *body,
                  struct visitor_reply *reply)
{
    struct visitor_reply own = {0};
    char url[512];

    snprintf(url, sizeof url, "%s%s", visitor->base, path);
    come_as_told(visitor, url);
    curl_easy_setopt(visitor->curl, CURLOPT_CUSTOMREQUEST, method);
    if (body)
        curl_easy_setopt(visitor->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(visitor->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(visitor->curl, CURLOPT_WRITEDATA, &own);
    own.code = curl_easy_perform(visitor->curl);
    read_reply(visitor->curl, &own);
    if (reply) {
        *reply = own;
        return own.status;
    }
    visitor_reply_release(&own);
    return own.status;
}

void visitor_reply_release(struct visitor_reply *reply)
{
    json_decref(reply->json);
    free(reply->text);
}
