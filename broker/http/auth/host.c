#include "broker/http/auth/host.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

/* An answer that asking again in a moment would not change. */
static bool is_definite(int code)
{
    return code == EAI_NONAME || code == EAI_NODATA || code == EAI_ADDRFAMILY;
}

void host_look(const char *name, struct host *out)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    *out = (struct host){.state = HOST_FOUND};
    int code = getaddrinfo(name, NULL, &hints, &found);
    if (code != 0) {
        out->state = is_definite(code) ? HOST_UNKNOWN : HOST_UNANSWERED;
        out->words = gai_strerror(code);
        return;
    }
    for (const struct addrinfo *at = found; at && out->count < HOST_ADDRESSES_MAX;
         at = at->ai_next) {
        struct sockaddr_in address;
        memcpy(&address, at->ai_addr, sizeof address);
        out->addresses[out->count++] = address.sin_addr;
    }
    freeaddrinfo(found);
}

bool host_has(const struct host *host, struct in_addr address)
{
    for (unsigned i = 0; i < host->count; i++)
        if (host->addresses[i].s_addr == address.s_addr)
            return true;
    return false;
}
