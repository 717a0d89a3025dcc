/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/mockfm/httpclient.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"

void httpclient_create(struct httpclient *httpclient, const char *scheme, unsigned port)
{
    *httpclient = (struct httpclient){.curl = curl_easy_init()};
    assert_non_null(httpclient->curl);
    snprintf(httpclient->base, sizeof httpclient->base, "%s://127.0.0.1:%u", scheme, port);
}

void httpclient_destroy(struct httpclient *httpclient)
{
    curl_easy_cleanup(httpclient->curl);
}

void httpclient_hang_up(struct httpclient *httpclient)
{
    curl_easy_cleanup(httpclient->curl);
    assert_non_null(httpclient->curl = curl_easy_init());
}

/* Where a longer text is always moved, as by a sanitizer, it must not grow by each piece. */
static size_t room_for(size_t length)
{
    size_t room = 4096;
    while (room <= length)
        room *= 2;
    return room;
}

static size_t take(char *bytes, size_t size, size_t count, void *cls)
{
    struct httpclient_reply *reply = cls;
    char *grown = reply->text;

    if (!grown || room_for(reply->length + count) > room_for(reply->length))
        grown = realloc(reply->text, room_for(reply->length + count));
    assert_non_null(grown);
    memcpy(grown + reply->length, bytes, count);
    reply->text = grown;
    reply->length += count;
    reply->text[reply->length] = '\0';
    return count;
}

static void come_as_told(const struct httpclient *httpclient, const char *url)
{
    CURL *curl = httpclient->curl;

    curl_easy_reset(curl); /* keeps connections */
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)AWAIT_DEADLINE_MS);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, httpclient->ca ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, httpclient->ca ? 2L : 0L);
    curl_easy_setopt(curl, CURLOPT_CAINFO, httpclient->ca);
    curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(curl, CURLOPT_SSLCERT, httpclient->cert);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, httpclient->key);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 | httpclient->tls_max);
    if (httpclient->basic)
        curl_easy_setopt(curl, CURLOPT_USERPWD, httpclient->basic);
    if (httpclient->bearer) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, httpclient->bearer);
    }
}

static void read_header(CURL *curl, const char *name, char *out, size_t size)
{
    struct curl_header *header;

    out[0] = '\0';
    if (curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        snprintf(out, size, "%s", header->value);
}

static void read_reply(CURL *curl, struct httpclient_reply *reply)
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

long httpclient_call(struct httpclient *httpclient, const char *method, const char *path,
                     const char *body, struct httpclient_reply *reply)
{
    struct httpclient_reply own = {0};
    char url[512];

    snprintf(url, sizeof url, "%s%s", httpclient->base, path);
    come_as_told(httpclient, url);
    curl_easy_setopt(httpclient->curl, CURLOPT_CUSTOMREQUEST, method);
    if (body)
        curl_easy_setopt(httpclient->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(httpclient->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(httpclient->curl, CURLOPT_WRITEDATA, &own);
    own.code = curl_easy_perform(httpclient->curl);
    read_reply(httpclient->curl, &own);
    if (reply) {
        *reply = own;
        return own.status;
    }
    httpclient_reply_release(&own);
    return own.status;
}

void httpclient_reply_release(struct httpclient_reply *reply)
{
    json_decref(reply->json);
    free(reply->text);
}
