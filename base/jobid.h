/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Job ids as people and hooks have them, in the one form that the broker takes. */

#include <stdbool.h>
#include <stddef.h>

/* Writes the plain form: Flux's "ƒLxs…" becomes "fLxs…", the same number in ASCII, and so does each
 * part of a path ("/ƒA/ƒB" becomes "/fA/fB"); any other id is itself. False: it does not fit. given
 * and out may be the same. */
bool jobid_plain(const char *given, char *out, size_t size);
