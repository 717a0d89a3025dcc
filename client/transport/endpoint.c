/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/endpoint.h"
#include "client/fault.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char http[] = "http://";
static const char https[] = "https://";
static const char unix_scheme[] = "unix:";

static int parse_socket(struct endpoint *endpoint, const char *path, struct mcast_error *error)
{
    if (path[0] != '/')
        return fault_set(error, MCAST_USAGE,
                         "'unix:%s' must name a socket by its whole path: "
                         "unix:/path/to/mcastd.sock",
                         path);
    if (strlen(path) >= sizeof(endpoint->socket))
        return fault_set(error, MCAST_USAGE,
                         "the socket's path has %zu characters, the system allows %zu: %.80s…",
                         strlen(path), sizeof(endpoint->socket) - 1, path);
    strcpy(endpoint->socket, path);
    strcpy(endpoint->base, "http://localhost");
    return 0;
}

/* The length of a host name, IPv4 address or [IPv6 address] at the start of text; 0: none. */
static size_t host_length(const char *text)
{
    size_t length = 0;
    if (text[0] == '[') {
        length = 1 + strspn(text + 1, "0123456789abcdefABCDEF:.");
        return length > 1 && text[length] == ']' ? length + 1 : 0;
    }
    while (isalnum((unsigned char)text[length]) || (text[length] && strchr("-._", text[length])))
        length++;
    return length;
}

/* Names that curl resolves to this machine without asking anybody, and loopback addresses. */
static bool is_loopback(const char *host, size_t length)
{
    char name[INET6_ADDRSTRLEN + 2];
    struct in_addr v4;
    struct in6_addr v6;
    if (length == strlen("localhost") && strncasecmp(host, "localhost", length) == 0)
        return true;
    if (length >= sizeof(name))
        return false;
    bool brackets = host[0] == '[';
    snprintf(name, sizeof(name), "%.*s", (int)(length - (brackets ? 2 : 0)),
             host + (brackets ? 1 : 0));
    if (brackets)
        return inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
    return inet_pton(AF_INET, name, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

static int parse_tcp(struct endpoint *endpoint, const char *url, struct mcast_error *error)
{
    const char *scheme = endpoint->tls ? https : http;
    const char *host = url + strlen(scheme);
    size_t length = host_length(host);
    const char *port = host + length + 1;
    size_t digits = 0;
    if (length > 0 && length <= 253 && host[length] == ':')
        digits = strspn(port, "0123456789");
    long number = digits > 0 && digits <= 5 ? strtol(port, NULL, 10) : 0;
    const char *rest = number > 0 ? port + digits : "?";
    if (number < 1 || number > 65535 || (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0))
        return fault_set(
            error, MCAST_USAGE,
            "the broker's URL is not %shost:port, with a port from 1 to 65535 and nothing after it",
            scheme);
    if (!endpoint->tls && !is_loopback(host, length))
        return fault_set(error, MCAST_USAGE,
                         "http:// goes over the network in the clear and is only for this machine "
                         "(127.0.0.1, [::1], localhost); use https://%.*s:%ld",
                         (int)length, host, number);
    snprintf(endpoint->base, sizeof(endpoint->base), "%s%.*s:%ld", scheme, (int)length, host,
             number);
    return 0;
}

int endpoint_parse(struct endpoint *endpoint, const char *url, struct mcast_error *error)
{
    memset(endpoint, 0, sizeof(*endpoint));
    if (strncmp(url, unix_scheme, strlen(unix_scheme)) == 0)
        return parse_socket(endpoint, url + strlen(unix_scheme), error);
    if (url[0] == '/')
        return parse_socket(endpoint, url, error);
    endpoint->tls = strncmp(url, https, strlen(https)) == 0;
    if (endpoint->tls || strncmp(url, http, strlen(http)) == 0)
        return parse_tcp(endpoint, url, error);
    return fault_set(error, MCAST_USAGE,
                     "the broker's URL must be unix:/path, /path or https://host:port");
}

int endpoint_find(struct endpoint *endpoint, const char *url, struct mcast_error *error)
{
    const char *from = "";
    if (!url) {
        /* Not from the environment of a set-user-id program: its user chose that. */
        url = secure_getenv("MCAST_URL");
        if (url && url[0])
            from = "MCAST_URL: ";
        else
            url = MCAST_DEFAULT_SOCKET;
    }
    struct mcast_error why;
    int rc = endpoint_parse(endpoint, url, &why);
    return rc < 0 ? fault_set(error, rc, "%s%s", from, why.text) : 0;
}

bool endpoint_named(const struct endpoint *endpoint)
{
    static const char localhost[] = "localhost:";
    if (endpoint->socket[0])
        return false;
    const char *host = endpoint->base + strlen(endpoint->tls ? https : http);
    /* curl knows localhost by itself; what is all digits and dots, or in brackets, is an address */
    return host[0] != '[' && host[strspn(host, "0123456789.")] != ':' &&
           strncasecmp(host, localhost, strlen(localhost)) != 0;
}

const char *endpoint_name(const struct endpoint *endpoint)
{
    return endpoint->socket[0] ? endpoint->socket : endpoint->base;
}
