/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of mock-fm. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mock-fm/http/auth.h"
#include "mock-fm/objects/inventory.h"
#include "mock-fm/http/message.h"
#include "mock-fm/http/tokens.h"

struct listener {
    char host[256];        /* a name or an address; "": there is none */
    char port[8];          /* "0": any */
    const char *port_file; /* or NULL */
    bool for_jobs;         /* no client is asked for a certificate, even if there is a client CA */
};

struct options {
    struct listener listener;
    struct listener jobs_listener;
    enum auth_mode auth;
    const char *authdir; /* or NULL, as the others below */
    int64_t token_lifetime_us;
    enum session_reach reach;
    const char *tls_cert, *tls_key; /* both or none */
    const char *client_ca;          /* only with them */
    uint64_t addresses;
    bool overcommit;
    struct inventory inventory;
    const char *state;
    uint64_t latency_ms;
    struct session_mint mint;
    bool help, version; /* print that and nothing else */
};

/* 0, or -1 with a sentence that says what is allowed. The strings are those of argv. */
int options_parse(struct options *options, int argc, char **argv, struct problem *problem);

extern const char options_help[];
