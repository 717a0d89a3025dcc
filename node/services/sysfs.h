/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the driver tells of a NIC in files, and libcxi does not: <root>/<device>/device/<file>, in
 * node.conf's sysfs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYSFS_TEXT_SIZE = 128 };

/* The first line, without blanks around it; "": there is no such file, or it is longer. False then.
 */
bool sysfs_read(const char *root, const char *device, const char *file,
                char out[static SYSFS_TEXT_SIZE]);
