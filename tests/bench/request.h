/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/load.h"

/* What the load generator asks. The index makes the job's id, as long as a real one of Flux. */

/* Below the minimum size: one VNI, no multicast addresses, one commit. */
void request_reserve(size_t index, struct load_request *out);
void request_reserve_without_vni(size_t index, struct load_request *out);
/* Large enough for multicast addresses: two commits, a call of the fabric manager. */
void request_eligible(size_t index, struct load_request *out);
void request_release(size_t index, struct load_request *out);
/* A body as large as that of a reserve, for whoever only answers it. */
void request_echo(size_t index, struct load_request *out);

/* The id alone. */
enum { REQUEST_ID_SIZE = 16 };
void request_id(size_t index, char out[REQUEST_ID_SIZE]);

/* [hwcoll] of a large machine, for which those above are small and large. */
extern const char request_hwcoll[];
