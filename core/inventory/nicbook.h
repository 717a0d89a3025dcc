/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which NICs nodes have, as one source tells it (S2, P2): immutable once it is finished. */

enum { NICS_PER_NODE = 16, NICBOOK_NODES_MAX = 1 << 17, NIC_ADDRESS_MAX = (1 << 20) - 1 };

struct nic {
    uint32_t address; /* DFA (fabricmap.h) */
    uint8_t device;   /* 0 is cxi0 */
    uint8_t link;     /* enum fabric_state, as the source sees it */
    bool shared;      /* another one has the same address; set by nicbook_finish */
};

struct nicbook_node {
    const char *name;
    uint32_t count;
    struct nic nics[NICS_PER_NODE]; /* ordered by device */
};

struct nicbook;

struct nicbook *nicbook_create(void);
void nicbook_destroy(struct nicbook *book); /* NULL is allowed */

/* 0, or ERROR_INVALID with a sentence: the node has this device already, or too many; ERROR_FULL:
 * too many nodes. */
int nicbook_add(struct nicbook *book, const char *node, const struct nic *nic, struct error *err);
/* All is added. Before it, nothing can be looked up. */
void nicbook_finish(struct nicbook *book);

/* NULL: the source does not know the node. */
const struct nicbook_node *nicbook_find(const struct nicbook *book, const char *node);
/* In the order of strcmp; NULL: there are no more. */
const struct nicbook_node *nicbook_at(const struct nicbook *book, size_t index);
/* The index of the first name behind this one. */
size_t nicbook_after(const struct nicbook *book, const char *name);
size_t nicbook_count(const struct nicbook *book);
