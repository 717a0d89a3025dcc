#ifndef MCAST_FMAPI_WIRE_KEYFILE_H
#define MCAST_FMAPI_WIRE_KEYFILE_H

#include "base/error.h"
#include "base/secret.h"

#include <stddef.h>

/* A small file that a login is made of, read with a look at who else can (F13).
 *
 * The look is at the open file, so that what was looked at is what is read. A name that is a pipe
 * or a device is refused and never waited for. */

enum keyfile_guard {
    KEYFILE_PUBLIC,  /* anyone may read it, whoever wrote it: it is checked by other means */
    KEYFILE_TRUSTED, /* nobody but its owner may change it; the owner is the service or root */
    KEYFILE_SECRET,  /* nor read it */
};

struct keyfile {
    const char *holds; /* for the sentences: "the password" */
    enum keyfile_guard guard;
    size_t max; /* bytes, without a line's end */
};

/* The file's text, owned by the caller, which wipes it. 0, or an error code with a sentence that
 * names the file and what to do; ERROR_REFUSED when others can do what the guard forbids. Empty
 * files and NULs are refused. */
int keyfile_text(const char *path, const struct keyfile *kind, struct secret *out,
                 struct error *err);

/* The same of a file of one line: without its end; control characters are refused. */
int keyfile_line(const char *path, const struct keyfile *kind, struct secret *out,
                 struct error *err);

#endif
