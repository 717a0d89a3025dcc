/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/idset.h"

#include <stdbool.h>
#include <stddef.h>

/* Which VNIs the fabric manager has given to which partitions of the fabric (B2): those of others
 * than the site's. A noun; what of it is believed is decided in core/reconcile/foreign.c. */

enum { PARTITION_NAME_MAX = 64, PARTITIONS_MAX = 256, PARTITION_RANGES_MAX = 1 << 13 };

/* One, as the fabric manager tells it. */
struct partition {
    const char *name; /* any text: what is not printable is shown as '?' */
    const struct idset *vnis;
};

struct partition_entry {
    char name[PARTITION_NAME_MAX + 1]; /* printable, without blanks */
    struct idset vnis;                 /* not empty */
};

/* All zero is none. */
struct partitions {
    struct partition_entry *all;
    size_t count, capacity;
};

void partitions_release(struct partitions *p);
/* Adds VNIs to the partition of this name, which is made if there is none; NULL, "": to "?". */
void partitions_add(struct partitions *p, const char *name, const struct idset *vnis);
void partitions_union(const struct partitions *p, struct idset *out);
/* Makes one without a name of all, if they have more ranges than PARTITION_RANGES_MAX: their text
 * has to fit into a record of the ledger (etcd takes 1.5 MB), and its VNIs count, not the names. */
void partitions_bound(struct partitions *p);
/* The first that has the VNI; NULL: none. */
const char *partitions_of(const struct partitions *p, uint16_t vni);

/* "other 2000-2999,4000\n", a line a partition, as it is in the ledger. The caller frees it. */
char *partitions_text(const struct partitions *p);
/* 0 or ERROR_CORRUPT; p is empty before, and is to be released in either case. */
int partitions_parse(struct partitions *p, const char *text, struct error *err);
bool partitions_text_valid(const char *text);
