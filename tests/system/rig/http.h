#ifndef MCAST_TESTS_RIG_HTTP_H
#define MCAST_TESTS_RIG_HTTP_H

#include <jansson.h>
#include <stddef.h>

/* A plain HTTP client for tests, one call at a time: a second opinion beside libmcast, which is
 * itself under test. Failures of the transport say why on stderr. */

struct http;

/* base: "http://host:port", used as the start of every URL. socket: path of a Unix socket, or NULL
 * for TCP. NULL: out of memory. */
struct http *http_create(const char *base, const char *socket);
void http_destroy(struct http *http); /* NULL is allowed */

/* Basic authentication ("user:password") or "Authorization: Bearer <token>" from now on; NULL:
 * neither. */
int http_use_basic(struct http *http, const char *user_password);
int http_use_bearer(struct http *http, const char *token);

struct http_reply {
    int status; /* 0: no answer came */
    char *text; /* the body, NUL-terminated; NULL when no answer came */
    size_t length;
    json_t *json; /* the body decoded; NULL when it is not JSON */
};
void http_reply_release(struct http_reply *reply);

/* body: JSON text, or NULL for none. Fills reply, to be released whatever is returned: its status.
 */
int http_call(struct http *http, const char *method, const char *path, const char *body,
              struct http_reply *reply);

/* Only the status; silent when no answer came. For asking again and again. */
int http_probe(struct http *http, const char *path);

#endif
