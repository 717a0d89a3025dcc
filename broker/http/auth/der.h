/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_DER_H
#define MCAST_BROKER_HTTP_AUTH_DER_H

#include <stddef.h>

/* How much there is to take apart in bytes of DER (ITU-T X.690), without taking them apart: what
 * decoders make of each element costs a thousand times more than to step over it. */

/* The number of elements, those in extensions of certificates (octet strings that hold a sequence
 * and nothing else) with them; max + 1 as soon as there are more, or lengths and tags are written
 * in ways that certificates have no use for. Bytes that are no DER end the count. */
size_t der_elements(const unsigned char *bytes, size_t length, size_t max);

#endif
