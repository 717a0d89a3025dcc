/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/inventory/nicbook.h"
#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What nodes have told of their NICs (P2): a row for each node, ordered by name. A row has a text,
 * as on disk, and where its NICs are: 11,136 nodes of four NICs are some 4 MB. */

enum {
    NODENICS_NICS_MAX = 16,
    NODENICS_DEVICE_MAX = 15, /* as in reports of services */
    NODENICS_WORD_MAX = 64,
    NODENICS_TEXT_SIZE = NODENICS_NICS_MAX * 192,
};

struct nodenic {
    char device[NODENICS_DEVICE_MAX + 1]; /* "cxi0"; [A-Za-z0-9_.-] */
    uint32_t address;                     /* its own in the fabric (DFA) */
    uint32_t speed;                       /* Mbit/s; 0: not known */
    bool up;                              /* its link */
    char serial[NODENICS_WORD_MAX + 1];   /* as nodenics_word_valid; "": not known */
    char firmware[NODENICS_WORD_MAX + 1]; /* likewise */
};

/* Up to NODENICS_WORD_MAX printable characters of ASCII, but blank, '"', '\\', ',' and ';'. */
bool nodenics_word_valid(const char *word);

/* The text of these NICs, which become ordered by device: the same for the same NICs. "": none.
 * False: two have one device, or one has an impossible name. */
bool nodenics_write(struct nodenic *nics, size_t count, char out[static NODENICS_TEXT_SIZE]);

/* Reads the next NIC of a text; *at is moved on. False: there are no more, *at is at the NUL; or,
 * before it, at what is no NIC. */
bool nodenics_next(const char **at, struct nodenic *nic);

/* Whether the text is one that nodenics_write makes. */
bool nodenics_valid(const char *text);

/* What differs, in words; EVENT_NONE: nothing. A NIC is another one (NIC_REPLACED) when its device
 * has another serial number. */
enum event_kind nodenics_compare(const char *before, const char *now, char *words, size_t size);

/* ---- the table ---- */

struct nodenics {
    int64_t changed_ms; /* when it became as it is */
    uint64_t order;     /* of the report: one with a lower order is older */
    int64_t allowed_ms; /* how often a node may change (nodenics_allow) */
    bool limited;       /* it changed too often, which is said */
    uint8_t place_count;
    const struct nic *places; /* of those that are called cxi0 to cxi15, ordered by device; and */
    const char *nics;         /* the text: in the same block */
    char node[];              /* first, as it is what searches read */
};

struct nodenics_table {
    struct nodenics **all; /* by strcmp of their names */
    size_t count, capacity, bytes;
};

enum { NODENICS_NODES_MAX = 32768, NODENICS_BYTES_MAX = 32 << 20 };

struct nodenics *nodenics_find(const struct nodenics_table *table, const char *node); /* or NULL */
/* The first one behind this name; "": of all; NULL: there are no more. */
const struct nodenics *nodenics_after(const struct nodenics_table *table, const char *node);
/* Whether a node may be added. */
bool nodenics_has_room(const struct nodenics_table *table);
/* Inserts or replaces; copies. The earlier row is returned, to be freed when nothing points at it;
 * or NULL. */
void *nodenics_put(struct nodenics_table *table, const struct nics_record *record);
/* The row of this node, taken out, to be freed as above; NULL: there is none. */
void *nodenics_take(struct nodenics_table *table, const char *node);
/* Whether the node may change now: eight times at once, then once in ten minutes. Counts it. */
bool nodenics_allow(struct nodenics *row, int64_t now_ms);
void nodenics_release(struct nodenics_table *table);
