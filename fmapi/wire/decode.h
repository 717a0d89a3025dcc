/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"
#include "base/names.h"
#include "fmapi/wire/secrets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the fabric manager's answers (docs/fabric-manager.md, "Jobs"). Any bytes are allowed. */

enum {
    DECODE_WORDS_SIZE = 256,
    DECODE_LINK_MAX = 8192, /* to the next page: all of them are kept, and libcurl takes no URL of
                               8,000,000 bytes */
};

struct decoded {
    enum fmcall_outcome outcome;
    char token[TOKEN_MAX + 1]; /* sessionToken for FM_OK of RESERVE and CHECK, else empty. Secret:
                                  decoded_release wipes it. */
    char words[DECODE_WORDS_SIZE]; /* a clean line: "HTTP 507: 02: no addresses left"; no secret */
    struct fmcall_steps *steps;    /* for FM_OK of STEPS, else NULL; owned */
    struct fmcall_tree tree;       /* for FM_OK of JOIN; else its root is NULL */
    char root[FMCALL_ROOT_SIZE];   /* … which is this */
};

/* An answer to a call. FM_OK of RESERVE and CHECK needs a usable token; an answer without one is
 * FM_BUSY, for the call was acted on. FM_OK of STEPS needs a "jobSteps" that can be read, FM_OK of
 * JOIN the number of a tree. To JOIN, words are what the fabric manager says, without "HTTP
 * 507: " before it. 404 is FM_NOT_ROUTED unless the body is the fabric manager's own error
 * document, a JSON object whose "statusCode" is 404 and whose "documentKind" names an
 * ErrorResponse: what a gateway says in its place tells nothing about a job. So is a 2xx to
 * RELEASE, END_STEP, END_TREE and LEAVE whose body is neither blank nor {} nor an object with a
 * member of the fabric manager's documents. session: the call was made with a job's session token,
 * which 401 and 403 then refer to.
 *
 * Secrets of the request and every sessionToken of the body are blanked (secrets.h) in the server's
 * text; with too many of them, the text is dropped. */
void decode_call(struct decoded *out, enum fmcall_kind kind, bool session, int status,
                 const char *body, size_t length, const struct secrets *secrets);
void decoded_release(struct decoded *decoded);

struct decoded_page {
    char **names; /* last path segment of each link, percent-decoded; escapes that are wrong or
                     mean NUL stay as they are, so that such a name is never taken for ours */
    size_t count;
    int64_t claimed; /* documentCount, -1 when there is none */
    char *next;      /* nextPageLink, NULL when there is none */
};

/* One page of the list. FM_OK, or FM_BUSY when the body is of a wrong shape, or what the status
 * says; words are set in all but FM_OK and the page is empty. Any page must be released. */
enum fmcall_outcome decode_page(struct decoded_page *page, int status, const char *body,
                                size_t length, const struct secrets *secrets,
                                char words[static DECODE_WORDS_SIZE]);
void decoded_page_release(struct decoded_page *page);
