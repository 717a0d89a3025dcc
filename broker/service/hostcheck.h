/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/file.h"

/* mcastd --check: whether this host has what the configuration names, as far as this user can see:
 * folders that can be written to, the key that seals the ledger, certificates and how long they
 * last. Reports at the line where the key stands. */

enum { HOSTCHECK_DAYS = 30 /* a certificate that ends earlier is warned of */ };

void hostcheck_run(struct config_reading *reading);
