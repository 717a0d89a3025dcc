/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/secret.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a small file that holds a key, password or certificate, and checks who else can read or
 * change it (F13). The open file is checked, so what was checked is what is read. Pipes and devices
 * are refused without blocking. */

enum keyfile_guard {
    KEYFILE_PUBLIC,  /* any owner and mode: it is checked by other means */
    KEYFILE_TRUSTED, /* only its owner may change it: this user or root */
    KEYFILE_SECRET,  /* and read it */
};

struct keyfile {
    const char *holds; /* for the sentences: "the password" */
    enum keyfile_guard guard;
    size_t max; /* bytes, without a line's end; unused by keyfile_open */
    bool line;  /* it is one line: read without its end, and control characters are refused */
};

/* The file's text, to be wiped by the caller. 0, or an error code with a sentence that names the
 * file and the next step: ERROR_NOT_FOUND; ERROR_REFUSED when others can do what the guard forbids;
 * ERROR_IO; ERROR_INVALID: not a regular file, empty, too long, or with NULs. */
int keyfile_text(const char *path, const struct keyfile *kind, struct secret *out,
                 struct error *err);

/* The steps of it: a descriptor, to be closed; and up to size bytes, of which the number is
 * returned. The same errors. */
int keyfile_open(const char *path, const struct keyfile *kind, struct error *err);
int keyfile_bytes(int file, const char *path, char *bytes, size_t size, struct error *err);
