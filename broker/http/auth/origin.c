/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/origin.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a sentence; there may be more. */
enum { ADDRESSES_TOLD = 4, ADDRESSES_SIZE = ADDRESSES_TOLD * (INET_ADDRSTRLEN + 2) + 24 };

struct origin *origin_create(const char *node, bool listed, struct in_addr address)
{
    struct origin *origin = memory_zeroed(sizeof *origin);
    snprintf(origin->name, sizeof origin->name, "%s", node);
    origin->names[0] = origin->name;
    origin->address = address;
    /* Debian gives a host's own name 127.0.1.1, so that all would be the same. */
    if (!listed)
        origin->verdict = ORIGIN_UNLISTED;
    else if (address.s_addr == htonl(INADDR_ANY))
        origin->verdict = ORIGIN_NULL;
    else if (ntohl(address.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET)
        origin->verdict = ORIGIN_LOOPBACK;
    return origin;
}

void origin_judge(struct origin *origin, const struct host *host)
{
    assert(origin->verdict == ORIGIN_OPEN);
    origin->host = *host;
    switch (host->state) {
    case HOST_FOUND:
        origin->verdict = host_has(host, origin->address) ? ORIGIN_HOLDS : ORIGIN_ELSEWHERE;
        break;
    case HOST_UNKNOWN:
        origin->verdict = ORIGIN_UNKNOWN;
        break;
    case HOST_UNANSWERED:
        origin->verdict = ORIGIN_UNANSWERED;
        break;
    }
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
    switch (origin->verdict) {
    case ORIGIN_UNLISTED:
        snprintf(out, size,
                 "it speaks for \"%.64s\", which is not listed in 'nodes' of the cluster in the "
                 "broker's configuration; add it there, or give mcast-node the name that is listed "
                 "(node.conf: node)",
                 name);
        break;
    case ORIGIN_LOOPBACK:
        snprintf(
            out, size,
            "every host has the address %s, so it does not tell which is \"%.64s\": there, "
            "the host's own name resolves to it (/etc/hosts). Correct that, or start its munged "
            "with --origin=ADDRESS, one to which the name resolves on the broker's host",
            address, name);
        break;
    case ORIGIN_NULL:
        snprintf(out, size,
                 "its munged did not find the address of \"%.64s\" when it started, and says so in "
                 "its log; start it again when that resolves, or with --origin=ADDRESS, one to "
                 "which the name resolves on the broker's host",
                 name);
        break;
    case ORIGIN_UNKNOWN:
        snprintf(out, size,
                 "\"%.64s\" does not resolve to an IPv4 address on the broker's host (%s); add it "
                 "to the names there (getent ahostsv4 shows them), or give the node a certificate",
                 name, origin->host.words);
        break;
    case ORIGIN_ELSEWHERE:
        snprintf(out, size,
                 "\"%.64s\" resolves to %s on the broker's host, not to %s. If it is that node, "
                 "correct the names, or start its munged with --origin=ADDRESS, one of those",
                 name, addresses_format(&origin->host, all), address);
        break;
    case ORIGIN_UNANSWERED:
        snprintf(out, size,
                 "\"%.64s\" cannot be looked up on the broker's host: %s; try again, and see that "
                 "its name servers answer (getent ahostsv4)",
                 name, origin->host.words);
        break;
    case ORIGIN_OPEN:
    case ORIGIN_HOLDS:
        snprintf(out, size, "nothing is wrong with its origin");
        break;
    }
    return out;
}
