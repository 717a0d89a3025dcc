/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/http/answer.h"

/* Holds real answers against what openapi.json promises. Knows as much of OpenAPI and JSON Schema
 * as that document uses: a word it does not know is a failure, not a pass. */

/* Whether the answer to this call is one the document declares, with the media type and the body it
 * declares for it. On failure a sentence is in why. Calls of paths that the document does not have
 * must be answered 404 with a problem. */
bool contract_holds(json_t *document, const char *method, const char *path,
                    const struct answer *answer, char *why, size_t size);

/* Whether value suits the schema called name. */
bool contract_suits(json_t *document, const char *name, json_t *value, char *why, size_t size);
