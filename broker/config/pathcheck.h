/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_CONFIG_PATHCHECK_H
#define MCAST_BROKER_CONFIG_PATHCHECK_H

#include "broker/config/file.h"

/* Whether what the configuration names can be changed by root and this user only, as whom the
 * service runs (trust/trustedpath.h): what it runs, what it reads, the ledger that it writes, the
 * sockets at which it listens or to which it connects. Each that others can change is a fault at
 * the line where its key stands, and so is a login that is refused because others can read it (F13,
 * B8). What is missing is reported elsewhere.
 *
 * For config_load, where the service reads the files, or --check as its user. */
void pathcheck_run(struct config_reading *reading);

#endif
