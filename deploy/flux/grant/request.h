/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FLUX_REQUEST_H
#define MCAST_FLUX_REQUEST_H

/* What a Flux job asks of the broker, read from its resource set and its jobspec (F2, F12, F14).
 *
 * R (RFC 20) says where the job runs, and is Flux's word. The jobspec (RFC 14) is the user's, so
 * whatever stands there is either understood or refused with a sentence:
 *
 *   -o mcast=off                         nothing at all
 *   -o mcast.vnis=N                      0 to 4
 *   -o mcast.hwcoll=auto|on|off|required
 *   -o mcast.tc=low_latency:best_effort  commas will do, too
 *   -o mcast.single-node=on|off          of a job on one node only: a VNI, or none; else the site's
 */

#include "client/mcast.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { REQUEST_CLASSES_SIZE = 256, REQUEST_CLASSES_MAX = 16 };

struct request {
    char *nodes;         /* "elcap[1-4],elcap9"; freed by request_release */
    uint32_t node_count; /* ranks of the job, never 0 */
    uint32_t cores;      /* of a node, the most that the job has on one */
    bool off;            /* -o mcast=off: the rest says nothing */
    int vnis;            /* -1: as the site is configured */
    const char *hwcoll;  /* one of the words above, or NULL; static */
    char classes_text[REQUEST_CLASSES_SIZE];
    const char
        *classes[REQUEST_CLASSES_MAX + 1]; /* in classes_text, ended by NULL; none: all NULL */
};

/* Reads the two as `flux kvs get R jobspec` prints them: one JSON value after the other. 0;
 * ERROR_INVALID: the user's words are none of the above; ERROR_CORRUPT: R or jobspec are not what
 * the RFCs say; ERROR_NOMEM. *out is to be released whatever is returned. It is not moved: classes
 * point into it. */
int request_read(struct request *out, FILE *from, struct error *err);

/* The same, of decoded ones. */
int request_parse(struct request *out, const json_t *r, const json_t *jobspec, struct error *err);

/* The same in the library's words: all but cluster, job and uid, which stay as they are. Valid as
 * long as the request. */
void request_put(const struct request *request, struct mcast_request *out);

void request_release(struct request *request);

/* How many ids an idset of Flux has (RFC 22): "0-3,7", also in brackets. False: text (NULL is
 * allowed) is no idset, or has more than 2^32 - 1. */
bool request_count_ids(const char *text, uint32_t *count);

/* The job's memo, which every user of the machine can read: {"number","vnis","hwcoll","reason",
 * "addresses","warning"}, as far as they are there, of a reservation as mcast_reservation_json
 * writes it: never its environment, where the token is. The caller's to json_decref; NULL: memory
 * is exhausted. */
json_t *request_memo(const json_t *reservation);

#endif
