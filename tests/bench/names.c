/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the C library: each node's name is that of the one host that makes all credentials
 * here. What a site's name service takes is not measured. */

#include "tests/bench/arrival.h"

#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(name && strncmp(name, "elcap", 5) == 0 ? ARRIVAL_ORIGIN : name, service, hints,
                out);
}
