#ifndef MCAST_CLIENT_HTTPDATE_H
#define MCAST_CLIENT_HTTPDATE_H

/* The time in a Date header: "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7, the one form that
 * may still be sent). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds since 1970. False: the text is no such date. What stands behind it does not matter. */
bool httpdate_parse(const char *text, size_t length, int64_t *seconds);

#endif
