#ifndef MCAST_CLIENT_LIBCURL_H
#define MCAST_CLIENT_LIBCURL_H

/* libcurl, opened at run time by whoever has to do with a broker over TCP: loading it and the
 * thirty libraries below it takes longer than all that a program asks over the Unix socket. */

#include "client/mcast.h"

#include <curl/curl.h>

/* The functions that are used, by their names without "curl_". */
#define LIBCURL_FUNCTIONS(X)                                                                       \
    X(global_init)                                                                                 \
    X(version_info)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_reset)                                                                                  \
    X(easy_cleanup)                                                                                \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(multi_init)                                                                                  \
    X(multi_cleanup)                                                                               \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_socket_action)                                                                         \
    X(multi_timeout)                                                                               \
    X(multi_info_read)

/* Of the types that curl's header gives them. */
#define LIBCURL_MEMBER(name) __typeof__(&curl_##name) name;
struct libcurl {
    LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
};
#undef LIBCURL_MEMBER

/* Ready for the process, and never closed: it may have a thread in a name's look-up that nobody
 * waits for. NULL: MCAST_UNREACHABLE with the word "libcurl", why, and what to do. */
const struct libcurl *libcurl_open(struct mcast_error *error);

#endif
