/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/problem.h"

#include <microhttpd.h>

/* Whether a request's head (RFC 9112, 2–6) can be read in one way only. libmicrohttpd is generous:
 * it takes the first of two lengths, and before 1.0 it ends lines at a bare LF and fields at a NUL,
 * and glues a folded line to the field's NAME. A proxy between the client and us could read
 * each of these differently, and see another request end where ours does. */

/* The head as libmicrohttpd hands it to its callbacks. Before 1.0, which tells nothing of its lines
 * (httpworker.h), the pointers have to be those of the callbacks, not copies: it keeps the head in
 * one piece and cuts it in place, so that they tell what stood between the parts. If a version did
 * not, every head would be refused. */
struct head {
    const char *method, *target, *version;
    const char *uri; /* the target as it came; in place MHD has cut it at its query */
};

/* 0, or -1 with a 400 in problem; its field is the header at fault. After that nothing of the
 * connection can be trusted: it is to be closed. */
int head_check(struct MHD_Connection *connection, const struct head *head, struct problem *problem);

/* A header's value without the blanks around it (libmicrohttpd leaves those behind it until 1.0),
 * or NULL: it is not there. Where there are any, a copy in *copy, which holds until the next call;
 * empty when there is no memory. It may be a token: wiped when it is dropped. */
const char *head_value(struct MHD_Connection *connection, const char *name, char **copy);
void head_value_drop(char **copy);

/* How much a client wants a media type ("text/plain"), by its Accept header (RFC 9110, 12.5.1):
 * 0 (not at all) to 1000. The most specific range that matches counts. accept may be NULL: 1000. */
int accept_weight(const char *accept, const char *type);
