#ifndef MCAST_CLIENT_REACTOR_H
#define MCAST_CLIENT_REACTOR_H

/* Drives the way to one broker behind one descriptor: an epoll set of its sockets and of a timer,
 * which is readable when there is something to do. So whoever waits for it needs to know neither
 * sockets nor times. */

#include "client/flight.h"

struct reactor;

/* MCAST_NOMEM: no memory, or no descriptor. MCAST_UNREACHABLE: what the way needs is not there. */
int reactor_create(struct reactor **out, const struct endpoint *endpoint,
                   struct mcast_error *error);
void reactor_destroy(struct reactor *reactor); /* takes NULL; nothing may be under way */

int reactor_fd(const struct reactor *reactor);

/* Monotonic clock, in milliseconds. */
int64_t reactor_now_ms(void);

/* The descriptor is readable at that time, or when the way has something to do, if that is sooner;
 * INT64_MAX: no such time. To be called after all that changes what is to be done. */
void reactor_set_alarm(struct reactor *reactor, int64_t due_ms);

/* Begins to carry a flight that is prepared; nothing is sent before reactor_turn. False: memory is
 * exhausted. */
bool reactor_add(struct reactor *reactor, struct flight *flight);
/* Gives up what was added, and nobody has been told the end of: it is not aloft any more. */
void reactor_remove(struct reactor *reactor, struct flight *flight);

/* Does what can be done now. */
void reactor_turn(struct reactor *reactor);

/* One that has come to its end, and is not aloft any more; NULL: no more. */
struct flight *reactor_landed(struct reactor *reactor);

#endif
