/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "fmapi/wire/credential.h"
#include "fmapi/wire/request.h"
#include "fmapi/wire/secrets.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* One request and its answer as a libcurl easy handle. A transport drives it from a loop; a program
 * without one calls exchange_perform.
 *
 * Requests go to the URL and nowhere else: no redirects, no proxies, http and https only.
 *
 * libcurl itself repeats a request on a new connection when a kept one was closed before any byte
 * of the answer came (RFC 9110 9.2.2 permits that for idempotent methods only). The server may have
 * acted on the first copy: so only a request that is repeatable is repeated, others are BROKEN.
 *
 * Secrets are given to libcurl so that the copies are ours, to be wiped. Its own buffers, which it
 * frees without wiping, hold the head of the request and the answer. */

enum transport_end {
    TRANSPORT_ANSWERED = 1, /* a whole answer */
    TRANSPORT_TOO_LONG,     /* an answer longer than the request allows; status is known */
    TRANSPORT_TIMEOUT,      /* the request may have left, no whole answer in time */
    TRANSPORT_BROKEN,       /* the request may have left, then the connection broke */
    TRANSPORT_UNREACHED,    /* the request never left: no name, connection, TLS, or time for it */
    TRANSPORT_CANCELLED,    /* the transport is being destroyed */
};

struct transport_answer {
    enum transport_end end;
    int status;       /* HTTP status, 0 when none came */
    const char *body; /* ANSWERED: length bytes, NULL when length is 0 */
    size_t length;
    const char *words; /* the cause, printable; "" for ANSWERED */
    bool tls_fault;    /* it failed because of TLS */
    /* Set by attempt.c: */
    int64_t took_us;
    struct secrets secrets; /* of the request, which the answer may quote */
};

typedef void transport_done_fn(void *arg, const struct transport_answer *answer);

struct transport_options {
    const char *ca;    /* file or directory; NULL: the system's store */
    bool ca_directory; /* which of the two; set by transport_create or exchange_ca */
    bool verify;
    struct x509_store_st *authorities; /* what ca holds, where libcurl's TLS is OpenSSL; NULL:
                                          libcurl reads it. Set by transport_trust. */
    bool bare;                         /* words without next steps, which are about mcastd.conf */
    unsigned parallel;                 /* connections at once, at most; at least 1 */
    /* Asked when a connection stands, just before the request is written: whether it still may be;
     * NULL: always. */
    bool (*may_send)(void *arg);
    void *may_send_arg;
    unsigned unacknowledged_ms; /* a connection ends when what was written is not acknowledged for
                                   so long; 0: the system's time */
};

struct exchange {
    CURL *easy;
    struct curl_slist *headers; /* with the login: wiped before they are freed */
    struct credential *credential;
    struct x509_store_st *authorities; /* a reference of its own; or NULL */
    bool (*may_send)(void *arg);
    void *may_send_arg;
    int unacknowledged_ms;
    bool repeatable; /* asked twice, it does no harm */
    bool unanswered; /* a kept connection ended, and it is not repeatable */
    bool sent;       /* a connection stood and the request was about to be written, at least once */
    bool too_long;
    bool bare;      /* words without a next step */
    bool tls_fault; /* set by exchange_answer */
    char *body;     /* may hold a session token: wiped before it is freed */
    size_t length, capacity, max;
    char curl_words[CURL_ERROR_SIZE];
    char words[ERROR_TEXT_SIZE];
    transport_done_fn *done;
    void *done_arg;
    TAILQ_ENTRY(exchange) entry; /* of the transport's list */
};

/* Sets the trusted authorities: a file, a hashed directory, or with NULL the system's. Borrows ca.
 */
void exchange_ca(struct transport_options *options, const char *ca);

/* share and credential may be NULL. The credential is held, the
 * request's body borrowed, until the exchange is destroyed. */
struct exchange *exchange_create(const struct transport_options *options, CURLSH *share,
                                 const struct request *request, struct credential *credential,
                                 int64_t timeout_ms);
void exchange_destroy(struct exchange *exchange);

/* Sends it and waits for its end, at most its timeout_ms; for a program without a loop, which must
 * ignore SIGPIPE and has called curl_global_init. Once, instead of driving it oneself. The answer
 * is valid as long as the exchange; its secrets are empty (credential_add_secrets). */
struct transport_answer exchange_perform(struct exchange *exchange);

/* The answer, valid as long as the exchange. */
struct transport_answer exchange_answer(struct exchange *exchange, CURLcode code);

/* The server's clock less ours, by the answer's Date; INT64_MIN: none. After the end. It takes some
 * ten thousand instructions. */
int64_t exchange_skew_ms(const struct exchange *exchange);
