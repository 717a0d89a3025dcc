/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cxi.conf: which NICs the machine has, and what goes wrong (docs/mock-cxi.md). It is read at each
 * call, so that a change applies to programs that run already. */

#include <stdbool.h>

#include "base/error.h"
#include "mock-cxi/fault.h"
#include "mock-cxi/nic.h"
#include "mock-cxi/place.h"

enum { CONF_FAULTS_MAX = 64 };

struct conf {
    bool anyone;      /* privileged calls are not root's alone */
    bool shared_vnis; /* two services of a NIC may have the same VNI */
    bool log;
    bool sysfs;             /* the driver's files are written, too */
    unsigned int nic_count; /* those absent included: nics[i] is cxi<i> */
    struct nic nics[NIC_MAX];
    unsigned int fault_count;
    struct fault faults[CONF_FAULTS_MAX];
};

/* For free(). No file or directory: no NICs. NULL: ERROR_INVALID with the line's number, ERROR_IO.
 */
struct conf *conf_read(const struct place *place, struct error *err);

/* The same from a text, which is changed. */
struct conf *conf_parse(char *text, struct error *err);

/* NULL: it is not there, or absent. */
const struct nic *conf_nic(const struct conf *conf, unsigned int dev_id);
