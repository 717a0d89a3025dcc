/* SPDX-License-Identifier: Apache-2.0 */
/* The fabric manager's base URL, and links seen from there (fmapi/wire/baseurl.h): a line for each.
 * That a link leads nowhere else is held against what libcurl would make of it. */

#include "fmapi/wire/baseurl.h"
#include "tests/fuzz/fuzz.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char *part_of(const char *text, CURLUPart part, unsigned flags)
{
    char *found = NULL;
    CURLU *url = curl_url();
    if (curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK)
        (void)curl_url_get(url, part, &found, flags);
    curl_url_cleanup(url);
    return found;
}

static void check_same_part(const char *one, const char *other, CURLUPart part)
{
    char *a = part_of(one, part, CURLU_DEFAULT_PORT), *b = part_of(other, part, CURLU_DEFAULT_PORT);
    FUZZ_CHECK(a && b && strcasecmp(a, b) == 0);
    curl_free(a);
    curl_free(b);
}

/* The path that is asked for lies below the base's, dots in either resolved. */
static void check_below(const char *base, const char *url)
{
    char *path = part_of(url, CURLUPART_PATH, 0), *prefix = part_of(base, CURLUPART_PATH, 0);
    FUZZ_CHECK(path && prefix && prefix[0] == '/');
    size_t length = strlen(prefix);
    while (length > 0 && prefix[length - 1] == '/')
        length--;
    FUZZ_CHECK(strncmp(path, prefix, length) == 0);
    FUZZ_CHECK(path[length] == '/' || path[length] == '\0');
    curl_free(path);
    curl_free(prefix);
}

/* Behind its host, if it names one. */
static const char *path_of(const char *link)
{
    const char *colon = strchr(link, ':');
    bool whole = link[0] != '/' && colon && strncmp(colon, "://", 3) == 0;
    return whole ? colon + 3 + strcspn(colon + 3, "/?#") : link;
}

/* No segment of the link's path is "." or "..", not even as %2e: libcurl resolves only what is
 * written out, servers more. */
static void check_dots(const char *link)
{
    char *path = strdup(link), *out = path;
    for (const char *at = path_of(link); *at != '\0' && *at != '?'; out++) {
        bool dot = strncasecmp(at, "%2e", 3) == 0;
        *out = (char)(dot ? '.' : *at);
        at += dot ? 3 : 1;
    }
    *out = '\0';
    for (char *rest = path, *segment; (segment = strsep(&rest, "/"));)
        FUZZ_CHECK(strcmp(segment, ".") != 0 && strcmp(segment, "..") != 0);
    free(path);
}

static void check_link(const char *base, const char *link)
{
    char *url = baseurl_resolve(base, link), *user;
    if (!url)
        return;
    check_same_part(base, url, CURLUPART_SCHEME);
    check_same_part(base, url, CURLUPART_HOST);
    check_same_part(base, url, CURLUPART_PORT);
    check_below(base, url);
    check_dots(link);
    user = part_of(url, CURLUPART_USER, 0);
    FUZZ_CHECK(!user && !strchr(url, '#'));
    free(url);
}

/* What jobs are given leads back to the base, and whatever else is taken for it is a base, too. */
static void check_trees(const char *base, const char *text)
{
    struct error err = {0};
    char *url = NULL, *back, *other = baseurl_of_trees(text, &err);
    if (other) {
        FUZZ_CHECK(baseurl_check(other, "it", &err) == 0 && other[strlen(other) - 1] != '/');
        check_same_part(text, other, CURLUPART_HOST);
    } else {
        FUZZ_CHECK(err.code != 0 && fuzz_is_line(err.text));
    }
    free(other);
    if (!base)
        return;
    if (asprintf(&url, "%s/fabric/collectives/multicasts", base) < 0)
        abort();
    back = baseurl_of_trees(url, &err);
    FUZZ_CHECK(back && strcmp(back, base) == 0);
    free(back);
    free(url);
}

void fuzz_one(struct fuzz_input *in)
{
    struct error err = {0};
    char *text = fuzz_line(in), *link = fuzz_rest(in);
    char *base = baseurl_create(text, &err);
    if (base) {
        FUZZ_CHECK(baseurl_check(text, "it", &err) == 0);
        FUZZ_CHECK(base[strlen(base) - 1] != '/');
        char *again = baseurl_create(base, &err);
        FUZZ_CHECK(again && strcmp(again, base) == 0);
        free(again);
        check_link(base, link);
    } else {
        FUZZ_CHECK(err.code != 0 && err.text[0] != '\0' && fuzz_is_line(err.text));
    }
    check_trees(base, text);
    free(base);
    free(text);
    free(link);
}
