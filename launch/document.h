/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The launch document: all that the nodes of a job need before its first process, made once by the
 * broker and carried to the nodes by the resource manager (S1, S5, P4, B10). One JSON object:
 *
 *   {"v":1,"interconnect":"slingshot","cluster":"elcap","job":"4711","number":123,"restart":0,
 *    "uid":1000,"issued":1700000000,"expires":1700003600,"node_count":128,"nodes":"elcap[1-128]",
 *    "driver":{…},"tasks":{"FI_CXI_COLL_JOB_ID":"elcap-4711",…}}
 *
 * "driver" is for the interconnect's code on the node, "tasks" is the environment of the job's
 * tasks; both hold secrets. A node list longer than LAUNCH_NODES_MAX is left out, and
 * "nodes_digest" stands for it, so that the document is small for any number of nodes: the
 * node has the list from its resource manager. "restart" is the resource manager's count of
 * restarts, and missing where it has none. Times are seconds since 1970.
 *
 * "addresses_digest", where it was asked for, is the digest of a word that travels beside the
 * envelope: LAUNCH_ADDRESSES_PREFIX, then the addresses of the job's nodes
 * (core/inventory/nodeaddresses.h). Programs that carry it can read it, and change nothing in it.
 *
 * A document proves nothing by itself: it travels in an envelope (credential.h, sealed.h). */

enum {
    LAUNCH_VERSION = 1,
    LAUNCH_NODES_MAX = 64,                /* bytes of a node list within the document */
    LAUNCH_DIGEST_LENGTH = 43,            /* SHA-256 in base64url */
    LAUNCH_DOCUMENT_MAX = 16 * 1024,      /* bytes; longer ones are refused */
    LAUNCH_CLOCK_SKEW_S = 300,            /* by which the clocks of broker and node may differ */
    LAUNCH_ADDRESSES_MAX = 64 * 1024 + 8, /* bytes of the word with addresses */
};

#define LAUNCH_ADDRESSES_PREFIX "MCASTN."

struct launch {
    json_t *root; /* owned; the strings below are its own */
    const char *interconnect;
    const char *cluster, *job;
    uint64_t number; /* of the reservation */
    int64_t restart; /* -1: not told */
    uint32_t uid;
    uint32_t node_count;
    const char *nodes;            /* or NULL, and then */
    const char *nodes_digest;     /* of the list, byte for byte as the resource manager wrote it */
    const char *addresses;        /* launch_format only: the word, prefix included; or NULL */
    const char *addresses_digest; /* launch_parse only: of that word; or NULL */
    int64_t issued_s, expires_s;
    json_t *driver, *tasks; /* objects; the values of tasks are strings */
};

/* As JSON on one line, of `launch` without root; for free(). nodes: the whole list, of any
 * length; nodes_digest is not looked at. NULL without memory, or for a long list without libcrypto.
 * To be wiped: it holds secrets. */
char *launch_format(const struct launch *launch);

/* Reads a document; every field is checked. 0, to be released; ERROR_INVALID; ERROR_VERSION: made
 * by a newer broker. */
int launch_parse(struct launch *launch, const char *text, size_t length, struct error *err);
void launch_release(struct launch *launch); /* wipes the secrets */

/* Whether this is the word with addresses that was made with the document. */
bool launch_addresses_match(const struct launch *launch, const char *word);

/* What the node itself knows of the job that is about to start. */
struct launch_here {
    const char *cluster; /* NULL: not known */
    const char *job;
    int64_t restart;   /* -1: not known */
    int64_t uid;       /* -1: not known */
    const char *node;  /* this node's name in node lists */
    const char *nodes; /* the job's node list from the resource manager; NULL: not known */
    int64_t now_s;
};

/* Whether the document is for this job, this life of it, this owner and this node, now. 0; or
 * ERROR_REFUSED with one sentence that says what does not fit and what to do. Without `restart` on
 * either side, an earlier life is told from this one by its number only, which the caller compares
 * with what the node remembers. */
int launch_check(const struct launch *launch, const struct launch_here *here, struct error *err);
