#ifndef MCAST_FMAPI_EXCHANGE_H
#define MCAST_FMAPI_EXCHANGE_H

#include "fmapi/transport.h"

#include <curl/curl.h>
#include <stdbool.h>

/* One request and its answer as a libcurl easy handle: what is set on it, what is read from it. */

struct exchange {
    CURL *easy;
    struct curl_slist *headers;
    bool sent; /* a connection stood and the request was about to be written, at least once */
    bool too_long;
    bool no_memory;
    char *body; /* may hold a session token: wiped before it is freed */
    size_t length, capacity, max;
    int64_t timeout_ms;
    uint64_t started_ns;
    char curl_words[CURL_ERROR_SIZE];
    char words[ERROR_TEXT_SIZE];
    transport_done_fn *done;
    void *done_arg;
    struct exchange *next, *previous; /* the transport's list */
};

/* NULL when memory is exhausted. share may be NULL. */
struct exchange *exchange_create(const struct transport_options *options, CURLSH *share,
                                 const struct request *request, const struct credential *credential,
                                 int64_t timeout_ms);
void exchange_destroy(struct exchange *exchange);

/* What came of it, valid as long as the exchange. */
struct transport_answer exchange_answer(struct exchange *exchange, CURLcode code);

#endif
