#ifndef MCAST_FMAPI_WIRE_BASIC_H
#define MCAST_FMAPI_WIRE_BASIC_H

#include <stddef.h>

/* The basic login as it goes over the wire (RFC 7617): base64 of "user:password". libcurl makes its
 * own; this one is to recognise it by when a server quotes it back. */

/* Bytes that out needs for so many bytes of user and password together. */
#define BASIC_SIZE(bytes) (((bytes) + 1 + 2) / 3 * 4 + 1)

/* Without padding, so that it is also found where the padding is left out. out is a secret. */
void basic_encode(char *out, const char *user, const char *password);

#endif
