/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/sealing.h"
#include "state/store.h"

/* A whole ledger as a text that can be kept, and loaded into another store (docs/state.md, "Moving
 * a ledger"): lines of JSON, first a header, then the records in the order of store_load, then
 * their number and a SHA-256 of all lines before. Secrets stay sealed with the ledger's key. */

struct dump_head {
    char made[32];   /* when: "2026-11-23T18:30:00Z" */
    char mcastd[32]; /* version of the program that wrote it */
    char from[1024]; /* which ledger */
    bool live;       /* a broker had it open: it has gone on since */
    size_t records;  /* as the last line says */
};

/* Writes what the store loads, and root_keys if it loads none (RECORD_ROOT_KEYS; NULL: none, which
 * SQLite's ledgers have in a file). Blocks while a keeper that is far away fetches it. The text and
 * its size, to be freed; NULL with a sentence. Sets head->records. */
char *dump_write(struct store *store, struct sealing *sealing, struct dump_head *head,
                 const struct record *root_keys, size_t *size, struct error *err);

/* Checks the whole text first, then calls each as store_load does. sealing->ledger is what messages
 * call the text. 0; or what each returned; or a code with a sentence: ERROR_INVALID (no such text),
 * ERROR_VERSION (a newer mcastd wrote it), ERROR_CORRUPT (cut or changed; a record that no broker
 * writes), ERROR_REFUSED (sealed with another key). */
int dump_read(const char *text, size_t size, struct sealing *sealing, struct dump_head *head,
              store_each_fn *each, void *arg, struct error *err);
