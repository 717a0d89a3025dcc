/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What can be sent to the broker that should not be, and what must come of it. One table a subject,
 * one row a case; run.h runs them. */

/* Bytes, which may hold NUL. */
struct span {
    const char *bytes;
    size_t length;
};
/* clang-format off */
#define SPAN(literal) {(literal), sizeof literal - 1}
/* clang-format on */

enum outcome {
    KEEPS,  /* answered as told; the connection goes on */
    ENDS,   /* answered as told, with Connection: close, and closed */
    PLAIN,  /* answered with the status in libmicrohttpd's own words, before the broker is asked:
               no problem document can be had there; closed */
    SILENT, /* closed without a word */
    WAITS,  /* not whole: nothing comes until the client ends its side, then it is closed */
};

/* Wherever it stands in path, headers and text, this is replaced by unit, `times` times. */
#define MANY "@@"

struct bad_case {
    const char *what;    /* for whoever reads a failure */
    const char *method;  /* NULL: text is all that is sent */
    const char *path;    /* sent as it stands */
    const char *headers; /* "Name: value\r\n…", after Host and before Content-Length; or NULL */
    struct span text;    /* the body */
    const char *unit;    /* see MANY */
    size_t times;        /* 0: there is no MANY */
    enum outcome outcome;
    int status;               /* of the answer; below 400: odd, but right */
    const char *code, *field; /* of the problem; NULL: none */
    bool slowly;              /* byte by byte */
};

struct bad_table {
    const char *name;
    const struct bad_case *cases;
    size_t count;
};
#define BAD_TABLE(name, cases)                                                                     \
    {                                                                                              \
        name, cases, sizeof cases / sizeof cases[0]                                                \
    }

#define JOB "/v1/clusters/elcap/jobs/"
#define SYNC "/v1/clusters/elcap/sync"

extern const struct bad_table json_table, reserve_table, nodelist_table, sync_table, address_table,
    query_table, head_table, framing_table, chunk_table, unfinished_table;
/* One of the two, by the libmicrohttpd that the program runs with (run_since_1). */
extern const struct bad_table before_1_table, since_1_table;
