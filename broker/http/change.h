#ifndef MCAST_BROKER_HTTP_CHANGE_H
#define MCAST_BROKER_HTTP_CHANGE_H

#include "broker/http/shared.h"

struct http_options;

/* What the options say that a reload can change, read and resolved, before it is heeded. The start
 * is a change like any other. */
struct http_change {
    struct rights *rights;
    struct tls *tls;    /* NULL: none */
    char *munge_socket; /* NULL: none */
    bool metrics_anonymous;
};

/* Reads files and looks users up. 0, or negative with a sentence; to be released in either case. */
int change_read(struct http_change *change, const struct http_options *options, struct error *err);

/* Puts it in place of what was there, and leaves the change empty. */
void change_apply(struct http *http, struct http_change *change);

void change_release(struct http_change *change);

#endif
