/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/load.h"
#include "tests/system/rig/testbed.h"

/* What the load generator asks. The index makes the job's id, as long as a real one of Flux. */

/* Below the minimum size: one VNI, no multicast addresses, one commit. */
void request_reserve(size_t index, struct load_request *out);
void request_reserve_without_vni(size_t index, struct load_request *out);
/* Large enough for multicast addresses: two commits, a call of the fabric manager. */
void request_eligible(size_t index, struct load_request *out);
void request_release(size_t index, struct load_request *out);
/* Reserves one job with many nodes, elcap[1-nodes]; 0, or -1 with a word on stderr. Or it is
 * reserved already, by this number. Then the report of one of its nodes, by its index, that nothing
 * of it is left there. */
int request_reserve_reported(const struct testbed *testbed, size_t nodes);
void request_set_reported(uint64_t number);
void request_report(size_t index, struct load_request *out);
/* A body as large as that of a reserve, for whoever only answers it. */
void request_echo(size_t index, struct load_request *out);

/* The id alone. */
enum { REQUEST_ID_SIZE = 16 };
void request_id(size_t index, char out[REQUEST_ID_SIZE]);

/* [hwcoll] of a large machine, for which those above are small and large. */
extern const char request_hwcoll[];
/* The same, with an address each for as many as there are VNIs for. */
extern const char request_hwcoll_for_many[];
