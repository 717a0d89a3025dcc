/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FLUX_FLUXIDS_H
#define MCAST_FLUX_FLUXIDS_H

/* Flux's idsets (RFC 22), as far as they are counted: "0-3,7", also in brackets. */

#include <stdbool.h>
#include <stdint.h>

/* How many ids there are. False: text (NULL is allowed) is no idset, or has more than 2^32 - 1. */
bool fluxids_count(const char *text, uint32_t *count);

#endif
