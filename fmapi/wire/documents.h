/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/idset.h"
#include "core/inventory/fabricmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes what the fabric manager tells of the fabric: lists of links, with the documents in them
 * or without, and single documents (docs/inventory.md, "What is read"). Any bytes are allowed.
 * Knows no loop, so that any thread may decode. */

enum documents_kind {
    DOCUMENTS_PARTITIONS,
    DOCUMENTS_SWITCHES, /* these three make a map */
    DOCUMENTS_PORTS,
    DOCUMENTS_CABLES,
    DOCUMENTS_KINDS
};

/* "/fabric/switches", … */
const char *documents_path(enum documents_kind kind);

enum { DOCUMENTS_NAME_MAX = 63, DOCUMENTS_PARTITIONS_MAX = 256, DOCUMENTS_LINK_MAX = 512 };

/* VNIs that the fabric manager has given to a part of the machine (B2). */
struct documents_partition {
    char name[DOCUMENTS_NAME_MAX + 1]; /* printable */
    struct idset vnis;
};

struct documents_partitions {
    struct documents_partition *all;
    size_t count, capacity;
};

/* What has been decoded so far. All zero is empty. */
struct documents {
    struct fabric_read fabric;
    struct documents_partitions partitions;
};
void documents_release(struct documents *documents);
/* Forgets what was decoded of one kind. */
void documents_clear(struct documents *documents, enum documents_kind kind);
size_t documents_count(const struct documents *documents, enum documents_kind kind);

/* By which a list tells that something in it has changed. */
struct documents_stamp {
    int64_t version, updated_us; /* -1: not told */
    int64_t claimed;             /* documentCount */
};
/* Neither says that nothing has changed unless it was told. */
bool documents_same(const struct documents_stamp *a, const struct documents_stamp *b);

struct documents_page {
    struct documents_stamp stamp;
    size_t links;
    char **bare; /* links whose documents are not in the page */
    size_t bare_count;
    char *next; /* nextPageLink; NULL: none */
};
void documents_page_release(struct documents_page *page);

/* A page of a list; its documents go to out. 0, or a code with a sentence: then what is in out and
 * in page is of no use, and both can be released. */
int documents_page(struct documents_page *page, enum documents_kind kind, const char *body,
                   size_t length, struct documents *out, struct error *err);

/* One document, of the link. */
int documents_single(enum documents_kind kind, const char *link, const char *body, size_t length,
                     struct documents *out, struct error *err);
