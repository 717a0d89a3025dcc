/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/peer.h"
#include "client/text.h"

#include <arpa/inet.h>
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
    if (strlen(path) >= sizeof endpoint->socket)
        return fault_set(error, MCAST_USAGE,
                         "the socket's path has %zu characters, the system allows %zu: %.80s…",
                         strlen(path), sizeof endpoint->socket - 1, path);
    strcpy(endpoint->socket, path);
    strcpy(endpoint->base, "http://localhost");
    return 0;
}

/* The length of a host name, IPv4 address or [IPv6 address] at the start of text; 0: none. */
static size_t host_length(const char *text)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    if (text[0] != '[')
        return strspn(text, name);
    size_t length = 1 + strspn(text + 1, "0123456789abcdefABCDEF:.");
    return length > 1 && text[length] == ']' ? length + 1 : 0;
}

/* Names that curl resolves to this machine without asking anybody, and loopback addresses. */
static bool is_loopback(const char *host, size_t length)
{
    char name[INET6_ADDRSTRLEN + 2];
    struct in_addr v4;
    struct in6_addr v6;
    size_t bracket = host[0] == '[';
    if (length >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(length - 2 * bracket), host + bracket);
    if (bracket)
        return inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
    return strcasecmp(name, "localhost") == 0 ||
           (inet_pton(AF_INET, name, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

static int parse_tcp(struct endpoint *endpoint, const char *url, struct mcast_error *error)
{
    const char *scheme = endpoint->tls ? https : http;
    const char *host = url + strlen(scheme);
    size_t length = host_length(host);
    const char *port = host + length + 1;
    bool has_port = length > 0 && length <= 253 && host[length] == ':';
    size_t digits = has_port ? strspn(port, "0123456789") : 0;
    long number = digits > 0 && digits <= 5 ? strtol(port, NULL, 10) : 0;
    if (number < 1 || number > 65535 || (port[digits] && strcmp(port + digits, "/") != 0))
        return fault_set(
            error, MCAST_USAGE,
            "the broker's URL is not %shost:port, with a port from 1 to 65535 and nothing after it",
            scheme);
    if (!endpoint->tls && !is_loopback(host, length))
        return fault_set(error, MCAST_USAGE,
                         "http:// goes over the network in the clear and is only for this machine "
                         "(127.0.0.1, [::1], localhost); use https://%.*s:%ld",
                         (int)length, host, number);
    snprintf(endpoint->base, sizeof endpoint->base, "%s%.*s:%ld", scheme, (int)length, host,
             number);
    return 0;
}

int endpoint_parse(struct endpoint *endpoint, const char *url, struct mcast_error *error)
{
    memset(endpoint, 0, sizeof *endpoint);
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
    /* Not from the environment of a set-user-id program: its user chose that. */
    const char *given = url ? NULL : secure_getenv("MCAST_URL");
    bool named = given && given[0];
    struct mcast_error why;
    int rc = endpoint_parse(endpoint, url ? url : named ? given : MCAST_DEFAULT_SOCKET, &why);
    return rc < 0 ? fault_set(error, rc, "%s%s", named ? "MCAST_URL: " : "", why.text) : 0;
}

const char *endpoint_name(const struct endpoint *endpoint)
{
    return endpoint->socket[0] ? endpoint->socket : endpoint->base;
}
