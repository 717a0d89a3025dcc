/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TOKENS_RANDOMBYTES_H
#define MCAST_TOKENS_RANDOMBYTES_H

#include "base/error.h"

#include <stddef.h>

/* Random bytes from the kernel. 0, or ERROR_IO. */
int randombytes_fill(unsigned char *bytes, size_t size, struct error *err);

#endif
