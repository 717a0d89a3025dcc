/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/baseurl.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char example[] = "https://fmn:8000";

static char *url_part(CURLU *url, CURLUPart what, unsigned flags)
{
    char *text = NULL;
    return curl_url_get(url, what, &text, flags) == CURLUE_OK ? text : NULL;
}

static bool has_part(CURLU *url, CURLUPart what)
{
    char *text = url_part(url, what, 0);
    bool present = text != NULL;
    curl_free(text);
    return present;
}

/* libcurl takes "http:/host" and "http:///host" too; where the path begins we look for ourselves.
 */
static bool has_two_slashes(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon != NULL && strncmp(colon, "://", 3) == 0 && colon[3] != '/';
}

static CURLU *parse_url(const char *text)
{
    CURLU *url = has_two_slashes(text) ? curl_url() : NULL;
    if (url == NULL || curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS) != CURLUE_OK) {
        curl_url_cleanup(url);
        return NULL;
    }
    return url;
}

static bool printable(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= ' ' || *text > '~' || strchr("\\\"<>#", *text) != NULL)
            return false;
    return true;
}

int baseurl_check(const char *text, const char *what, struct error *err)
{
    CURLU *url = printable(text) ? parse_url(text) : NULL;
    char *scheme = url != NULL ? url_part(url, CURLUPART_SCHEME, 0) : NULL;
    int code = 0;
    if (scheme == NULL || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        code = error_set(err, ERROR_INVALID, "%s is not an http or https URL such as %s", what,
                         example);
    else if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        code = error_set(err, ERROR_INVALID,
                         "%s carries a login: take it out; a login belongs into the files of "
                         "authdir, where others cannot read it",
                         what);
    curl_free(scheme);
    curl_url_cleanup(url);
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
    CURLU *url = parse_url(text);
    char *scheme = url != NULL ? url_part(url, CURLUPART_SCHEME, 0) : NULL;
    char *host = url != NULL ? url_part(url, CURLUPART_HOST, 0) : NULL;
    bool private =
        scheme != NULL && host != NULL && (strcmp(scheme, "https") == 0 || is_loopback(host));
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return private;
}

char *baseurl_create(const char *text, struct error *err)
{
    char *copy = NULL;
    if (baseurl_check(text, "the fabric manager's URL", err) != 0)
        return NULL;
    if (strchr(text, '?') != NULL)
        error_set(err, ERROR_INVALID,
                  "the fabric manager's URL ends in a query: only a base such as %s is allowed",
                  example);
    else if ((copy = strdup(text)) == NULL)
        error_set(err, ERROR_NOMEM, "memory is exhausted");
    if (copy != NULL)
        for (size_t length = strlen(copy); length > 0 && copy[length - 1] == '/'; length--)
            copy[length - 1] = '\0';
    return copy;
}

char *baseurl_of_trees(const char *text, struct error *err)
{
    static const char trees[] = "/fabric/collectives/multicasts";
    size_t length = strlen(text), end = sizeof trees - 1;
    char *base;
    if (baseurl_check(text, "the URL for multicast trees", err) != 0)
        return NULL;
    if (length < end || strcmp(text + length - end, trees) != 0) {
        error_set(err, ERROR_INVALID, "the URL for multicast trees does not end in %s", trees);
        return NULL;
    }
    if ((base = strndup(text, length - end)) == NULL) {
        error_set(err, ERROR_NOMEM, "memory is exhausted");
        return NULL;
    }
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
    return strncmp(path, prefix, length) == 0 && strchr("/?", path[length]) != NULL;
}

static bool same_part(CURLU *one, CURLU *other, CURLUPart what, unsigned flags)
{
    char *a = url_part(one, what, flags);
    char *b = url_part(other, what, flags);
    bool same = a != NULL && b != NULL && strcasecmp(a, b) == 0;
    curl_free(a);
    curl_free(b);
    return same;
}

/* Where the path begins in a URL that was parsed: after "scheme://authority". */
static const char *path_of(const char *url)
{
    const char *authority = strstr(url, "://");
    return authority == NULL ? url + strlen(url) : authority + 3 + strcspn(authority + 3, "/?");
}

static char *resolve_full(const char *base, const char *link)
{
    CURLU *ours = parse_url(base);
    CURLU *theirs = parse_url(link);
    bool allowed = ours != NULL && theirs != NULL && !has_part(theirs, CURLUPART_USER) &&
                   !has_part(theirs, CURLUPART_PASSWORD) &&
                   same_part(ours, theirs, CURLUPART_SCHEME, 0) &&
                   same_part(ours, theirs, CURLUPART_HOST, 0) &&
                   same_part(ours, theirs, CURLUPART_PORT, CURLU_DEFAULT_PORT) &&
                   !has_dot_segment(path_of(link)) && path_below(path_of(link), path_of(base));
    curl_url_cleanup(ours);
    curl_url_cleanup(theirs);
    return allowed ? strdup(link) : NULL;
}

char *baseurl_resolve(const char *base, const char *link)
{
    if (!printable(link))
        return NULL;
    if (link[0] != '/')
        return strstr(link, "://") != NULL ? resolve_full(base, link) : NULL;
    if (link[1] == '/' || has_dot_segment(link)) /* "//host/…" is another host */
        return NULL;

    const char *base_path = path_of(base);
    bool complete = base_path[0] != '\0' && path_below(link, base_path);
    int origin = (int)(complete ? base_path - base : (ptrdiff_t)strlen(base));
    char *url = NULL;
    return asprintf(&url, "%.*s%s", origin, base, link) < 0 ? NULL : url;
}
