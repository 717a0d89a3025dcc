/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/origin.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>

/* In a sentence; there may be more. */
enum { ADDRESSES_TOLD = 4, ADDRESSES_SIZE = ADDRESSES_TOLD * (INET_ADDRSTRLEN + 2) + 24 };

struct origin *origin_create(const char *node, bool listed, struct in_addr address)
{
    struct origin *origin = memory_zeroed(sizeof *origin);
    snprintf(origin->name, sizeof origin->name, "%s", node);
    origin->names[0] = origin->name;
    origin->address = address;
    origin->listed = listed;
    return origin;
}

/* Its munged did not find out. */
static bool is_null(const struct origin *origin)
{
    return origin->address.s_addr == htonl(INADDR_ANY);
}

/* Debian gives a host's own name 127.0.1.1, so that all would be the same. */
static bool is_loopback(const struct origin *origin)
{
    return ntohl(origin->address.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

bool origin_is_open(const struct origin *origin)
{
    return origin->listed && !is_null(origin) && !is_loopback(origin) && !origin->looked_up;
}

void origin_look(struct origin *origin, const struct host *host)
{
    assert(origin_is_open(origin));
    origin->looked_up = true;
    origin->host = *host;
}

bool origin_holds(const struct origin *origin)
{
    return origin->looked_up && host_has(&origin->host, origin->address);
}

/* "10.0.0.7, 10.1.0.7", or the first of them "and 3 more". */
static const char *addresses_format(const struct host *host, char out[ADDRESSES_SIZE])
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < host->count && i < ADDRESSES_TOLD; i++) {
        char text[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &host->addresses[i], text, sizeof text);
        used += (size_t)snprintf(out + used, ADDRESSES_SIZE - used, "%s%s", i ? ", " : "", text);
    }
    if (host->count > ADDRESSES_TOLD)
        snprintf(out + used, ADDRESSES_SIZE - used, " and %u more", host->count - ADDRESSES_TOLD);
    return out;
}

const char *origin_explain(const struct origin *origin, char *out, size_t size)
{
    char all[ADDRESSES_SIZE], address[INET_ADDRSTRLEN];
    const char *name = origin->name;
    inet_ntop(AF_INET, &origin->address, address, sizeof address);
    if (!origin->listed)
        snprintf(out, size,
                 "it speaks for \"%.64s\", which is not listed in 'nodes' of the cluster in the "
                 "broker's configuration; add it there, or give mcast-node the name that is listed "
                 "(node.conf: node)",
                 name);
    else if (is_loopback(origin))
        snprintf(
            out, size,
            "every host has the address %s, so it does not tell which is \"%.64s\": there, "
            "the host's own name resolves to it (/etc/hosts). Correct that, or start its munged "
            "with --origin=ADDRESS, one to which the name resolves on the broker's host",
            address, name);
    else if (is_null(origin))
        snprintf(out, size,
                 "its munged did not find the address of \"%.64s\" when it started, and says so in "
                 "its log; start it again when that resolves, or with --origin=ADDRESS, one to "
                 "which the name resolves on the broker's host",
                 name);
    else if (origin->host.state == HOST_UNKNOWN)
        snprintf(out, size,
                 "\"%.64s\" does not resolve to an IPv4 address on the broker's host (%s); add it "
                 "to the names there (getent ahostsv4 shows them), or give the node a certificate",
                 name, origin->host.words);
    else if (origin->host.state == HOST_FOUND)
        snprintf(out, size,
                 "\"%.64s\" resolves to %s on the broker's host, not to %s. If it is that node, "
                 "correct the names, or start its munged with --origin=ADDRESS, one of those",
                 name, addresses_format(&origin->host, all), address);
    else
        snprintf(out, size,
                 "\"%.64s\" cannot be looked up on the broker's host: %s; try again, and see that "
                 "its name servers answer (getent ahostsv4)",
                 name, origin->host.words);
    return out;
}
