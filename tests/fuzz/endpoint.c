/* SPDX-License-Identifier: Apache-2.0 */
/* Where the broker is, or the brokers are, as people and MCAST_URL say it, and as one says that
 * another leads (client/transport/peer.h): the whole input. */

#include "client/transport/peer.h"
#include "tests/fuzz/fuzz.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_here(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || host[0] == '[';
}

/* As libcurl reads it, who will be asked: that host and port, nobody's name and password. */
static void check_url(const struct endpoint *endpoint)
{
    static const CURLUPart none[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS,
                                     CURLUPART_QUERY, CURLUPART_FRAGMENT};
    char *host = NULL, *port = NULL, *path = NULL, *other = NULL;
    CURLU *url = curl_url();
    FUZZ_CHECK(strncmp(endpoint->base, endpoint->tls ? "https://" : "http://", 7) == 0);
    if (curl_url_set(url, CURLUPART_URL, endpoint->base, 0) == CURLUE_OK) {
        FUZZ_CHECK(curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK);
        FUZZ_CHECK(curl_url_get(url, CURLUPART_PORT, &port, 0) == CURLUE_OK);
        FUZZ_CHECK(curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK);
        FUZZ_CHECK(strcmp(path, "/") == 0 && atoi(port) > 0 && atoi(port) < 65536);
        FUZZ_CHECK(endpoint->tls || is_here(host));
        for (size_t i = 0; i < sizeof none / sizeof *none; i++)
            FUZZ_CHECK(curl_url_get(url, none[i], &other, 0) != CURLUE_OK);
    }
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_url_cleanup(url);
}

/* Each of a list is what it would be alone, none comes twice, and each is asked once. */
static void check_list(const char *text)
{
    struct endpoints all;
    struct mcast_error error = {0};
    int rc = endpoints_parse(&all, text, &error);
    unsigned asked = 0, at = 0;
    if (rc != 0) {
        FUZZ_CHECK(rc == MCAST_USAGE && error.text[0] != '\0');
        return;
    }
    FUZZ_CHECK(all.count >= 1 && all.count <= ENDPOINTS_MAX && all.current == 0);
    int hint = endpoints_index(&all, text + strlen(text) / 2);
    FUZZ_CHECK(hint < (int)all.count);
    for (unsigned i = 0; i < all.count; i++) {
        struct endpoint alone;
        FUZZ_CHECK(strstr(text, all.list[i].socket) != NULL);
        FUZZ_CHECK(endpoint_parse(&alone, endpoint_name(&all.list[i]), NULL) == 0);
        FUZZ_CHECK(strcmp(alone.socket, all.list[i].socket) == 0);
        FUZZ_CHECK(strcmp(alone.base, all.list[i].base) == 0 && alone.tls == all.list[i].tls);
        FUZZ_CHECK(endpoints_index(&all, endpoint_name(&all.list[i])) == (int)i);
        FUZZ_CHECK(at < all.count && !(asked & 1U << at));
        asked |= 1U << at;
        at = endpoints_next(all.count, at, hint, asked);
    }
    FUZZ_CHECK(at == all.count);
}

void fuzz_one(struct fuzz_input *in)
{
    struct endpoint endpoint;
    struct mcast_error error = {0};
    char *text = fuzz_rest(in);
    int rc = endpoint_parse(&endpoint, text, &error);
    check_list(text);
    if (rc != 0) {
        FUZZ_CHECK(rc == MCAST_USAGE && error.text[0] != '\0');
    } else if (endpoint.socket[0] != '\0') {
        const char *path = text[0] == '/' ? text : text + strlen("unix:");
        FUZZ_CHECK(strcmp(endpoint.socket, path) == 0 && !endpoint.tls);
        FUZZ_CHECK(strcmp(endpoint_name(&endpoint), path) == 0);
    } else {
        check_url(&endpoint);
        FUZZ_CHECK(strncasecmp(text, endpoint_name(&endpoint), 8) == 0);
    }
    free(text);
}
