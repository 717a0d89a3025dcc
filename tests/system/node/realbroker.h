/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The real broker beside a node under test. Asserts on failure. */

#include "tests/system/node/fixture.h"
#include "tests/system/rig/testbed.h"

/* One that serves, with its fabric manager if the options have one, and that mcast-node asks from
 * now on. For testbed_destroy. */
struct testbed *realbroker_start(const struct testbed_options *options);

/* Reserves for a job of cluster elcap; the status is asserted. The job's first VNI, 0: none. */
unsigned int realbroker_reserve(struct testbed *testbed, const char *job, const char *request,
                                int status);
