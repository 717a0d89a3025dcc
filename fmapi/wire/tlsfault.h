/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

/* What libcurl and OpenSSL mean when a TLS connection fails, and what to do about it. */

struct tlsfault {
    CURLcode code;
    long verdict;      /* CURLINFO_SSL_VERIFYRESULT: an X509_V_ERR of OpenSSL's, 0 when none */
    const char *words; /* libcurl's */
    bool shown;        /* we have a certificate of our own to show */
    bool session;      /* with a job's session token, which goes without it */
};

/* A sentence's end: the next step for an operator, static; "" when it is a fault of TLS that has
 * none, NULL when it is no fault of TLS. */
const char *tlsfault_advice(const struct tlsfault *fault);
