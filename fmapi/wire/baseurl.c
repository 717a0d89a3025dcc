/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/baseurl.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char example[] = "https://fmn:8000";

struct parts {
    char *scheme, *host, *port;
    bool login;
};

static bool read_part(CURLU *url, CURLUPart what, char **out)
{
    return curl_url_get(url, what, out, CURLU_DEFAULT_PORT) == CURLUE_OK;
}

/* libcurl takes "http:/host" and "http:///host" too; where the path begins we look for ourselves.
 */
static bool has_two_slashes(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon && strncmp(colon, "://", 3) == 0 && colon[3] != '/';
}

/* False: it is no http or https URL. To be freed in either case. */
static bool parse_url(const char *text, struct parts *parts)
{
    CURLU *url = has_two_slashes(text) ? curl_url() : NULL;
    char *user = NULL, *password = NULL;
    *parts = (struct parts){0};
    bool parsed = url && curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS) == CURLUE_OK &&
                  read_part(url, CURLUPART_SCHEME, &parts->scheme) &&
                  read_part(url, CURLUPART_HOST, &parts->host) &&
                  read_part(url, CURLUPART_PORT, &parts->port) &&
                  (strcmp(parts->scheme, "http") == 0 || strcmp(parts->scheme, "https") == 0);
    parts->login = parsed && (read_part(url, CURLUPART_USER, &user) ||
                              read_part(url, CURLUPART_PASSWORD, &password));
    curl_free(user);
    curl_free(password);
    curl_url_cleanup(url);
    return parsed;
}

static void free_parts(struct parts *parts)
{
    curl_free(parts->scheme);
    curl_free(parts->host);
    curl_free(parts->port);
}

static bool printable(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= ' ' || *text > '~' || strchr("\\\"<>#", *text))
            return false;
    return true;
}

int baseurl_check(const char *text, const char *what, struct error *err)
{
    struct parts parts = {0};
    int code = 0;
    if (!printable(text) || !parse_url(text, &parts))
        code = error_set(err, ERROR_INVALID, "%s is not an http or https URL such as %s", what,
                         example);
    else if (parts.login)
        code = error_set(err, ERROR_INVALID,
                         "%s carries a login: take it out; a login belongs into the files of "
                         "authdir, where others cannot read it",
                         what);
    free_parts(&parts);
    return code;
}

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    char bare[64];
    size_t length = strlen(host);
    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (host[0] != '[' || length < 3 || length >= sizeof bare)
        return false;
    memcpy(bare, host + 1, length - 2);
    bare[length - 2] = '\0';
    return inet_pton(AF_INET6, bare, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool baseurl_private(const char *text)
{
    struct parts parts;
    const bool private =
        parse_url(text, &parts) && (strcmp(parts.scheme, "https") == 0 || is_loopback(parts.host));
    free_parts(&parts);
    return private;
}

char *baseurl_create(const char *text, struct error *err)
{
    if (baseurl_check(text, "the fabric manager's URL", err) != 0)
        return NULL;
    if (strchr(text, '?')) {
        error_set(err, ERROR_INVALID,
                  "the fabric manager's URL ends in a query: only a base such as %s is allowed",
                  example);
        return NULL;
    }
    char *copy = memory_text(text);
    for (size_t length = strlen(copy); length > 0 && copy[length - 1] == '/'; length--)
        copy[length - 1] = '\0';
    return copy;
}

char *baseurl_of_trees(const char *text, struct error *err)
{
    static const char trees[] = "/fabric/collectives/multicasts";
    const size_t length = strlen(text), end = sizeof trees - 1;
    if (baseurl_check(text, "the URL for multicast trees", err) != 0)
        return NULL;
    if (length < end || strcmp(text + length - end, trees) != 0) {
        error_set(err, ERROR_INVALID, "the URL for multicast trees does not end in %s", trees);
        return NULL;
    }
    char *base = memory_format("%.*s", (int)(length - end), text);
    char *checked = baseurl_create(base, err); /* the host could be called "fabric" */
    free(base);
    return checked;
}

/* "." and ".." as a segment, also when written with %2e: libcurl and servers resolve them, and then
 * the path lies elsewhere. */
static bool has_dot_segment(const char *path)
{
    while (*path == '/') {
        size_t dots = 0;
        const char *at = path + 1;
        for (; *at == '.' || strncasecmp(at, "%2e", 3) == 0; dots++)
            at += *at == '.' ? 1 : 3;
        if ((dots == 1 || dots == 2) && (*at == '\0' || *at == '/' || *at == '?'))
            return true;
        path = at + strcspn(at, "/?");
    }
    return false;
}

/* Whether path is prefix or lies below it. */
static bool path_below(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(path, prefix, length) == 0 && strchr("/?", path[length]);
}

/* Where the path begins in a URL that was parsed: after "scheme://authority". */
static const char *path_of(const char *url)
{
    const char *authority = strstr(url, "://");
    return !authority ? url + strlen(url) : authority + 3 + strcspn(authority + 3, "/?");
}

static char *resolve_full(const char *base, const char *link)
{
    struct parts ours, theirs = {0};
    const bool allowed = parse_url(base, &ours) && parse_url(link, &theirs) && !theirs.login &&
                         strcmp(ours.scheme, theirs.scheme) == 0 &&
                         strcasecmp(ours.host, theirs.host) == 0 &&
                         strcmp(ours.port, theirs.port) == 0 && !has_dot_segment(path_of(link)) &&
                         path_below(path_of(link), path_of(base));
    free_parts(&ours);
    free_parts(&theirs);
    return allowed ? memory_text(link) : NULL;
}

char *baseurl_resolve(const char *base, const char *link)
{
    if (!printable(link))
        return NULL;
    if (link[0] != '/')
        return strstr(link, "://") ? resolve_full(base, link) : NULL;
    if (link[1] == '/' || has_dot_segment(link)) /* "//host/…" is another host */
        return NULL;

    const char *base_path = path_of(base);
    bool complete = base_path[0] != '\0' && path_below(link, base_path);
    int origin = (int)(complete ? base_path - base : (ptrdiff_t)strlen(base));
    return memory_format("%.*s%s", origin, base, link);
}
