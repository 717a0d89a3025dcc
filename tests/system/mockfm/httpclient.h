/* SPDX-License-Identifier: Apache-2.0 */
/* A real client, libcurl: for what a real client does by itself, as TLS, forms and keep-alive. */
#pragma once

#include <curl/curl.h>
#include <jansson.h>
#include <stddef.h>

struct httpclient {
    CURL *curl;
    char base[64];
    /* How it comes; can be changed between calls. Paths of PEM files, and NULL for what is not: */
    const char *ca; /* NULL: it takes any server's certificate */
    const char *cert, *key;
    const char *basic;  /* "user:password" */
    const char *bearer; /* a token */
    long tls_max;       /* CURL_SSLVERSION_MAX_…, 0: as libcurl likes */
};

/* `scheme`: "http" or "https"; at 127.0.0.1. */
void httpclient_create(struct httpclient *httpclient, const char *scheme, unsigned port);
void httpclient_destroy(struct httpclient *httpclient);

struct httpclient_reply {
    CURLcode code; /* CURLE_OK: an answer came, whole */
    long status;   /* also of one that broke off; 0: none came */
    char *text;    /* as much of the body as came; terminated */
    size_t length;
    json_t *json; /* NULL when it is none */
    char retry_after[32], challenge[128];
    long http_version;    /* CURL_HTTP_VERSION_… */
    long new_connections; /* opened for this call */
    curl_off_t announced; /* Content-Length; -1: none */
};

/* Calls and waits; over a kept connection if it can. `body` NULL: none. Its status, 0 without an
 * answer. The reply (may be NULL) is to be released. */
long httpclient_call(struct httpclient *httpclient, const char *method, const char *path,
                     const char *body, struct httpclient_reply *reply);
void httpclient_reply_release(struct httpclient_reply *reply);

/* The next call opens a connection of its own. */
void httpclient_hang_up(struct httpclient *httpclient);
