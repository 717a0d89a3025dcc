/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/sealing.h"

#include <jansson.h>

/* A record as a JSON object: its members are the columns of state/columns.h.
 *
 * A number is an integer, a text a string; a member that is not there is 0 or no text, which is
 * also what a column that a later version adds has to mean by it. A text that is not UTF-8 (what
 * others said may be cut within a character) is {"base64":"…"}. A secret is sealed, in base64. The
 * record's kind is said beside the object. */

struct recordjson {
    struct sealing *sealing;
    json_t *kept; /* what the texts of the record read last lie in; NULL: none */
};

/* A new object; NULL: out of memory. The record must be possible (record_fault). */
json_t *recordjson_write(const struct recordjson *json, const struct record *record);

/* The record of an object that may be anything; its texts live until the next call, or
 * recordjson_forget. 0, or a code and a sentence that does not name the ledger yet: ERROR_CORRUPT
 * (no broker wrote it), ERROR_VERSION (a newer one did); ERROR_REFUSED is sealing_unwrap's and
 * names it. */
int recordjson_read(struct recordjson *json, enum record_kind kind, json_t *object,
                    struct record *record, struct error *err);

/* Wipes secrets, frees texts. */
void recordjson_forget(struct recordjson *json);
