#ifndef MCAST_BROKER_HTTP_AUTH_HOST_H
#define MCAST_BROKER_HTTP_AUTH_HOST_H

#include <netinet/in.h>
#include <stdbool.h>

/* What a host's name resolves to on the broker's host. IPv4 only, for that is what a MUNGE
 * credential carries. */

/* A node has a few networks, each with a NIC or four; what goes beyond is not looked at. */
enum { HOST_ADDRESSES_MAX = 16 };

enum host_state {
    HOST_FOUND,
    HOST_UNKNOWN,   /* the resolver is sure: no such name, or it has no IPv4 address */
    HOST_UNANSWERED /* it cannot tell now: a name server is away, no memory */
};

struct host {
    enum host_state state;
    const char *words; /* why there are no addresses: a literal; NULL when there are */
    unsigned count;
    struct in_addr addresses[HOST_ADDRESSES_MAX];
};

/* Asks the system's resolver (getaddrinfo). Blocks, when name servers are away for half a minute:
 * for worker threads. */
void host_look(const char *name, struct host *out);

bool host_has(const struct host *host, struct in_addr address);

#endif
