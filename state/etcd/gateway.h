/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/secret.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requests to etcd's JSON gateway: HTTP POST of JSON, on one kept connection a member. A gateway is
 * used by one thread, and waits for the answer. */

/* Which members, and how to reach them. Immutable and counted: a reload makes others. */
struct gateway_access {
    char **endpoints;
    size_t count;
    char *ca, *cert, *key; /* paths; or NULL */
    char *user;            /* or NULL: etcd's authentication is off */
    struct secret password;
    unsigned holders; /* etcd.c's, which has the lock for it */
};

enum gateway_end {
    GATEWAY_ANSWERED, /* done: a JSON object */
    GATEWAY_UNKNOWN,  /* no answer, or one that does not say whether it was done */
    /* etcd has not done it, and says why: */
    GATEWAY_NO_SPACE,
    GATEWAY_TOO_LARGE, /* the request, in bytes or in operations */
    GATEWAY_NOT_FOUND,
    GATEWAY_EXISTS,
    GATEWAY_COMPACTED, /* the revision to be read */
    GATEWAY_REFUSED,   /* for another reason */
};

struct gateway_reply {
    enum gateway_end end;
    json_t *body;      /* of GATEWAY_ANSWERED; else NULL. To be released */
    bool too_long;     /* GATEWAY_UNKNOWN because of answer_max */
    int64_t sent_ms;   /* CLOCK_BOOTTIME, just before the first byte of it was sent */
    const char *asked; /* the endpoint; as long as the access is held */
    struct error error;
};

struct gateway {
    struct gateway_access *access;
    CURL *easy;
    size_t at;           /* of the endpoints */
    struct secret token; /* that the members gave for user and password; or none */
    char *answer;        /* may hold a token: wiped */
    size_t length, capacity, max;
    char words[CURL_ERROR_SIZE];
};

/* For a gateway that is all zero, or in use: access is valid until the next one. */
void gateway_use(struct gateway *gateway, struct gateway_access *access);
void gateway_release(struct gateway *gateway);

struct gateway_request {
    const char *path;  /* "/v3/kv/txn" */
    const char *body;  /* JSON */
    size_t answer_max; /* a longer answer is GATEWAY_UNKNOWN */
    int64_t timeout_ms;
};

/* One try at one member. After GATEWAY_UNKNOWN the next request goes to the next member. Where a
 * login is needed, it is made first, and once more when etcd no longer knows it. */
struct gateway_reply gateway_post(struct gateway *gateway, const struct gateway_request *request);
