/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_WIRE_EXCHANGE_H
#define MCAST_FMAPI_WIRE_EXCHANGE_H

#include "fmapi/transport.h"

#include <curl/curl.h>
#include <stdbool.h>

/* One request and its answer as a libcurl easy handle. A transport drives it from a loop; a program
 * without one calls exchange_perform.
 *
 * Secrets are given to libcurl so that the copies are ours, to be wiped. Its own buffers, which it
 * frees without wiping, hold the head of the request and the answer. */

struct exchange {
    CURL *easy;
    struct curl_slist *headers; /* with the login: wiped before they are freed */
    struct credential *credential;
    struct x509_store_st *authorities; /* instead of what libcurl would read; NULL: that */
    bool waits;                        /* for them: libcurl has not begun */
    bool repeatable;                   /* asked twice, it does no harm */
    bool unanswered;                   /* a kept connection ended, and it is not repeatable */
    bool sent; /* a connection stood and the request was about to be written, at least once */
    bool too_long;
    bool no_memory;
    bool bare;      /* words without a next step */
    bool tls_fault; /* set by exchange_answer */
    char *body;     /* may hold a session token: wiped before it is freed */
    size_t length, capacity, max;
    int64_t timeout_ms;
    uint64_t started_ns;
    char curl_words[CURL_ERROR_SIZE];
    char words[ERROR_TEXT_SIZE];
    transport_done_fn *done;
    void *done_arg;
    struct exchange *next, *previous; /* the transport's list */
};

/* Sets the trusted authorities: a file, a hashed directory, or with NULL the system's. Borrows ca.
 */
void exchange_ca(struct transport_options *options, const char *ca);

/* NULL when memory is exhausted. share and credential may be NULL. The credential is held, the
 * request's body borrowed, until the exchange is destroyed. */
struct exchange *exchange_create(const struct transport_options *options, CURLSH *share,
                                 const struct request *request, struct credential *credential,
                                 int64_t timeout_ms);
void exchange_destroy(struct exchange *exchange);

/* Trusts these authorities instead of a file (castore.h: where that is possible). Takes over a
 * reference; NULL changes nothing. */
void exchange_trust(struct exchange *exchange, struct x509_store_st *authorities);

/* For one that waited before libcurl began: the rest of its time, 0: none. */
int64_t exchange_left_ms(const struct exchange *exchange);
/* Limits it to that rest. words: the cause, if it is 0. */
void exchange_waited(struct exchange *exchange, const char *words);

/* Sends it and waits for its end, at most its timeout_ms; for a program without a loop, which must
 * ignore SIGPIPE and has called curl_global_init. Once, instead of driving it oneself. The answer
 * is valid as long as the exchange; its secrets are empty (credential_add_secrets). */
struct transport_answer exchange_perform(struct exchange *exchange);

/* The answer, valid as long as the exchange. */
struct transport_answer exchange_answer(struct exchange *exchange, CURLcode code);

/* The server's clock less ours, by the answer's Date; INT64_MIN: none. After the end. It takes some
 * ten thousand instructions. */
int64_t exchange_skew_ms(const struct exchange *exchange);

#endif
