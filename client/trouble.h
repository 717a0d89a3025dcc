#ifndef MCAST_CLIENT_TROUBLE_H
#define MCAST_CLIENT_TROUBLE_H

/* What a request that got no answer comes to: a code, a word, and a sentence with cause and next
 * step. */

#include "client/credentials.h"
#include "client/endpoint.h"

#include <curl/curl.h>

struct trouble {
    const struct endpoint *endpoint;
    const struct credentials *credentials;
    CURL *easy; /* as it was when the request ended */
    CURLcode result;
    const char *words;   /* curl's own, "" when it has none */
    unsigned timeout_ms; /* of the request */
};

/* Returns the code that it sets. What is to be set is called as all programs call it: cacert is
 * mcastctl's --cacert, node.conf's key, and mcast_set_cacert. */
int trouble_explain(const struct trouble *trouble, struct mcast_error *error);

/* Whether it says that an established connection broke, rather than that none could be made. */
bool trouble_broken(CURLcode code);

#endif
