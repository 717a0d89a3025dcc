/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_SERVICES_LIBRARY_H
#define MCAST_NODE_SERVICES_LIBRARY_H

/* libcxi, opened at run time: one program for nodes with and without NICs. */

#include "base/error.h"
#include "cxi/abi.h"

/* Its functions, valid until the program ends. name: "libcxi.so.1", or a path. ERROR_NOT_FOUND: it
 * is not installed; ERROR_INVALID: what was found is no libcxi that can be used. */
int library_open(const struct cxi_calls **out, const char *name, struct error *err);

#endif
