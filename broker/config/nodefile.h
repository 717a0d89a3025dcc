/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "core/inventory/nicbook.h"

#include <stdio.h>

/* A file that tells which NICs nodes have, in the format of genders (S2):
 *
 *   # comment
 *   elcap1          nic0=0x1200,nic1=0x1201
 *   elcap[2-4],tuo7 compute,nic0=0x1300
 *
 * nicN is the NIC cxiN, its value the 20-bit address as libcxi and multicast trees have it, in
 * which
 * "%n" stands for the node's name and "%%" for "%". Other attributes are left alone. */

enum { NODEFILE_BYTES_MAX = 32 << 20, NODEFILE_LINE_MAX = 1 << 16 };

/* Hears of each line that is not as above, which is left out. */
typedef void nodefile_report_fn(void *arg, unsigned line, const char *words);

/* Never NULL; what could be read. 0, or a code with a sentence: it could not be read to its end, or
 * has more than the limits, and what is in the book is only the part before. */
struct nicbook *nodefile_read(FILE *in, nodefile_report_fn *report, void *arg, struct error *err);

/* Reads the file that a configuration names into it, and reports what is left out. Jobs do not
 * depend on it, so nothing of it is a fault. */
struct config_reading;
void nodefile_load(struct config_reading *reading);
