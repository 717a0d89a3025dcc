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

const char *endpoint_name(const struct endpoint *endpoint)
{
    return endpoint->socket[0] ? endpoint->socket : endpoint->base;
}

/* ---- several ---- */

static const char between[] = ", \t";

static bool begins_url(const char *text)
{
    return text[0] == '/' || strncmp(text, unix_scheme, strlen(unix_scheme)) == 0 ||
           strncmp(text, https, strlen(https)) == 0 || strncmp(text, http, strlen(http)) == 0;
}

/* Of the first of these URLs. */
static size_t url_length(const char *urls)
{
    size_t length = strcspn(urls, between);
    for (;;) {
        const char *next = urls + length + strspn(urls + length, between);
        if (!*next || begins_url(next))
            return length;
        length = (size_t)(next - urls) + strcspn(next, between);
    }
}

static bool is_same(const struct endpoint *one, const struct endpoint *other)
{
    return strcmp(one->socket, other->socket) == 0 && strcasecmp(one->base, other->base) == 0;
}

static int find_endpoint(const struct endpoints *endpoints, const struct endpoint *wanted)
{
    for (unsigned i = 0; i < endpoints->count; i++)
        if (is_same(&endpoints->list[i], wanted))
            return (int)i;
    return -1;
}

/* url: "": there is none at all. */
static int add_endpoint(struct endpoints *endpoints, const char *url, struct mcast_error *error)
{
    struct endpoint endpoint;
    int rc = endpoint_parse(&endpoint, url, error);
    if (rc < 0)
        return rc;
    if (find_endpoint(endpoints, &endpoint) >= 0)
        return fault_set(error, MCAST_USAGE, "%s is named twice", endpoint_name(&endpoint));
    if (endpoints->count == ENDPOINTS_MAX)
        return fault_set(error, MCAST_USAGE, "more than %d brokers are named", ENDPOINTS_MAX);
    endpoints->list[endpoints->count++] = endpoint;
    return 0;
}

int endpoints_parse(struct endpoints *endpoints, const char *urls, struct mcast_error *error)
{
    memset(endpoints, 0, sizeof *endpoints);
    urls += strspn(urls, between);
    for (unsigned number = 1; number == 1 || *urls; number++) {
        struct mcast_error why;
        size_t length = url_length(urls);
        char *url = strndup(urls, length);
        int rc = url ? add_endpoint(endpoints, url, &why) : fault_nomem(&why);
        free(url);
        urls += length + strspn(urls + length, between);
        if (rc < 0 && (number > 1 || *urls))
            return fault_set(error, rc, "URL %u of the list: %s", number, why.text);
        if (rc < 0)
            return fault_set(error, rc, "%s", why.text);
    }
    return 0;
}

int endpoints_find(struct endpoints *endpoints, const char *urls, struct mcast_error *error)
{
    /* Not from the environment of a set-user-id program: its user chose that. */
    const char *given = urls ? NULL : secure_getenv("MCAST_URL");
    bool named = given && given[0];
    struct mcast_error why;
    int rc = endpoints_parse(endpoints, urls ? urls : named ? given : MCAST_DEFAULT_SOCKET, &why);
    return rc < 0 ? fault_set(error, rc, "%s%s", named ? "MCAST_URL: " : "", why.text) : 0;
}

int endpoints_index(const struct endpoints *endpoints, const char *url)
{
    struct endpoint wanted;
    return endpoint_parse(&wanted, url, NULL) < 0 ? -1 : find_endpoint(endpoints, &wanted);
}

unsigned endpoints_next(unsigned count, unsigned after, int hint, unsigned asked)
{
    if (hint >= 0 && !(asked & 1U << hint))
        return (unsigned)hint;
    for (unsigned i = 1; i <= count; i++)
        if (!(asked & 1U << (after + i) % count))
            return (after + i) % count;
    return count;
}

const struct endpoint *endpoints_current(const struct endpoints *endpoints)
{
    return &endpoints->list[endpoints->current];
}

bool endpoints_remote(const struct endpoints *endpoints)
{
    unsigned sockets = 0;
    for (unsigned i = 0; i < endpoints->count; i++)
        sockets += endpoints->list[i].socket[0] != '\0';
    return sockets < endpoints->count;
}
