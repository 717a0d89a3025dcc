#ifndef MCAST_CLIENT_REACTOR_H
#define MCAST_CLIENT_REACTOR_H

/* Carries many requests at once without ever waiting, behind one descriptor: an epoll set of curl's
 * sockets and of a timer, which is readable when there is something to do. So the program's loop
 * needs to know neither sockets nor times. */

#include "client/mcast.h"

#include <curl/curl.h>

struct reactor;

/* MCAST_NOMEM: no memory, or no descriptor. */
int reactor_create(struct reactor **out, struct mcast_error *error);
void reactor_destroy(struct reactor *reactor); /* takes NULL; nothing may be under way */

int reactor_fd(const struct reactor *reactor);

/* Monotonic clock, in milliseconds. */
int64_t reactor_now_ms(void);

/* The descriptor is readable at that time, or when curl has something to do, if that is sooner;
 * INT64_MAX: no such time. To be called after all that changes what curl has to do. */
void reactor_set_alarm(struct reactor *reactor, int64_t due_ms);

/* Begins to carry a request that is prepared; nothing is sent before reactor_turn. False: memory is
 * exhausted. */
bool reactor_add(struct reactor *reactor, CURL *easy);
/* Gives up what was added. */
void reactor_remove(struct reactor *reactor, CURL *easy);

/* Does what can be done now. */
void reactor_turn(struct reactor *reactor);

/* One that has come to its end, no longer carried, with *result; NULL: no more. */
CURL *reactor_landed(struct reactor *reactor, CURLcode *result);

#endif
