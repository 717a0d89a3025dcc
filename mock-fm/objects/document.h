/* SPDX-License-Identifier: Apache-2.0 */
/* The fabric manager's JSON documents, in the style of VMware Xenon: each carries documentSelfLink,
 * documentVersion, documentEpoch, documentKind, documentUpdateTimeMicros and documentOwner.
 *
 * The functions return a new reference; without memory the process ends. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "mock-fm/objects/objects.h"
#include "mock-fm/http/message.h"

#define DOCUMENT_JOBS "/fabric/collectives/jobs"
#define DOCUMENT_TREES "/fabric/collectives/multicasts"

/* What follows base and a '/' in the path: "" at base itself and at "base/". NULL: another path. */
const char *document_below(const char *path, const char *base);

/* With its session token: only for a caller that is logged in or has the token already. */
json_t *document_of_job(const struct job *job);

json_t *document_of_tree(const struct tree *tree);

/* {"<step>":[<multicast id>,…],…} */
json_t *document_of_steps(const struct job *job);

/* Adds the fields that every document has but documentSelfLink. Takes the document. */
json_t *document_with_tail(json_t *document, const char *kind, uint64_t version,
                           int64_t updated_us);

/* A list of links that may be a page of a longer one. Items have keys that grow along the list. */
struct document_page {
    json_t *links;
    uint64_t size;  /* items on a page; 0: no limit */
    uint64_t after; /* only items whose key is greater */
    uint64_t last;  /* key of the last item on the page */
    bool more;      /* an item had no room */
};

/* An empty page as it is asked for. */
struct document_page document_page_of(const struct request *request);

/* False when the page is full and the walk can stop. */
bool document_page_add(struct document_page *page, uint64_t key, const char *base,
                       const char *name);

/* Closes the page: takes its links, names the next page when there is one. */
json_t *document_of_page(struct document_page *page, const char *self);
