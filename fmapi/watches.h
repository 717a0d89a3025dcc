#ifndef MCAST_FMAPI_WATCHES_H
#define MCAST_FMAPI_WATCHES_H

#include <curl/curl.h>
#include <stdbool.h>
#include <uv.h>

/* libcurl's sockets on a loop. At the end of each request libcurl lets go of its connection's
 * socket, and with the next request it wants it again; the kernel is told once for all of them, as
 * long as the connection stands (quality.md, G9). */

struct watches;

/* ready: CURL_CSELECT_*, of a socket that libcurl waits for. NULL when memory is exhausted. */
typedef void watches_ready_fn(void *arg, curl_socket_t socket, int ready);
struct watches *watches_create(uv_loop_t *loop, watches_ready_fn *ready, void *arg);

/* When nothing of libcurl's is left that uses them; NULL is allowed, and calls nothing. closed, or
 * NULL, may be called from inside. */
void watches_destroy(struct watches *watches, void (*closed)(void *arg), void *arg);

/* libcurl says to them what it waits for. */
bool watches_of(struct watches *watches, CURLM *multi);

/* The connection that this request may open is theirs from its opening to its closing. */
bool watches_open_for(struct watches *watches, CURL *easy);

#endif
