/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mock-cxi/conf.h"
#include "mock-cxi/place.h"

/* The driver's files of the NICs, which programs read beside libcxi: serial number, firmware and
 * counters, as cxi.conf has them, below `sysfs` in the directory (/sys/class/cxi on a real node).
 * What has changed is written; what cannot be is left as it is. Takes the lock meanwhile. */
void sysfs_write(struct place *place, const struct conf *conf);
