/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_RECORD_BOOT_H
#define MCAST_NODE_RECORD_BOOT_H

/* The position of this boot in the order of the node's reports to the broker (F3): later than all
 * reports before it, and earlier than all since. It is drawn once, by
 * the first command of a boot, and kept in the file "boot" of the spool. */

#include "node/record/note.h"

struct boot {
    char id[STATEDIR_BOOT_SIZE]; /* of the kernel's */
    uint64_t order;              /* 0: not known */
    bool owed;                   /* it is to be reported, and has not been */
};

/* This boot's, which is drawn if need be; the folder can be changed. 0, or negative. */
int boot_open(struct boot *boot, const struct statedir *dir, const struct notes *notes,
              struct error *err);

int boot_write(const struct statedir *dir, const struct boot *boot, struct error *err);

/* started_ms: when the machine was, by the clock, in milliseconds since 1970. The clock may have
 * been wrong, so notes of before and since count for more. Pure. */
uint64_t boot_order(const struct notes *notes, int64_t started_ms);

#endif
