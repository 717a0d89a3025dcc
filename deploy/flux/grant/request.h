/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a Flux job asks of the broker, read from its resource set and its jobspec (F2, F12, F14).
 *
 * R (RFC 20) says where the job runs, and is Flux's word. The jobspec (RFC 14) is the user's, so
 * whatever stands there is either understood or refused with a sentence:
 *
 *   -o mcast=off                         nothing at all
 *   -o mcast.vnis=N                      0 to 4
 *   -o mcast.shared=daos:mochi           names of shared VNIs; commas will do, too
 *   -o mcast.hwcoll=auto|on|off|required
 *   -o mcast.tc=low_latency:best_effort  commas will do, too
 *   -o mcast.single-node=on|off          of a job on one node only: a VNI, or none; else the site's
 *   -o mcast.profile=NAME                what none of these says is as the site's profile has it
 *
 * and where none of these is given, in flux-coral2's words, what is mcast=off and mcast.vnis=N:
 *
 *   -o cray-slingshot=off
 *   -o cray-slingshot.vnicount=0..4
 */

#include "client/mcast.h"
#include "base/error.h"
#include "base/names.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    REQUEST_CLASSES_SIZE = 256,
    REQUEST_CLASSES_MAX = 16,
    REQUEST_SHARED_SIZE = 128,
    REQUEST_SHARED_MAX = 3
};

struct request {
    struct mcast_request wanted; /* all but cluster, job and uid; valid as long as this is */
    bool off;                    /* -o mcast=off: the rest says nothing */
    char profile_text[PROFILE_NAME_MAX + 1];
    char classes_text[REQUEST_CLASSES_SIZE];
    const char *classes[REQUEST_CLASSES_MAX + 1]; /* in classes_text, ended by NULL */
    char shared_text[REQUEST_SHARED_SIZE];
    const char *shared[REQUEST_SHARED_MAX + 1]; /* the same of shared VNIs */
};

/* Reads the two as `flux kvs get R jobspec` prints them: one JSON value after the other. 0;
 * ERROR_INVALID: the user's words are none of the above; ERROR_CORRUPT: R or jobspec are not what
 * the RFCs say; ERROR_NOMEM. *out is to be released whatever is returned. It is not moved: classes
 * point into it. */
int request_read(struct request *out, FILE *from, struct error *err);

/* The same, of decoded ones. */
int request_parse(struct request *out, const json_t *r, const json_t *jobspec, struct error *err);

void request_release(struct request *request);

/* The launch document that a reserve asks for, which goes to the ranks within the reservation (S5).
 * Flux never starts a job a second time. A broker that makes none answers at once; one that cannot
 * say soon is asked once more, without. NULL: MCAST_LAUNCH=none. */
enum { REQUEST_LAUNCH_MS = 5000 };
const struct mcast_launch *request_launch(void);

/* Whether a reserve with a launch document that failed so is to be repeated without it: the broker
 * makes none, cannot do so now, or has not answered. */
bool request_fails_for_launch(const struct mcast_error *error);

/* How many ids an idset of Flux has (RFC 22): "0-3,7", also in brackets. False: text (NULL is
 * allowed) is no idset, or has more than NODELIST_COUNT_MAX. */
bool request_count_ids(const char *text, uint32_t *count);

/* The job's memo, which every user of the machine can read: {"number","vnis","hwcoll","reason",
 * "addresses","warning","summary"}, the last one a line for people (deploy/flux/flux-jobs.toml), as
 * far as they are there, of a reservation as mcast_reservation_json writes it: never its
 * environment, where the token is. The caller's to json_decref; NULL: memory is exhausted. */
json_t *request_memo(const json_t *reservation);
