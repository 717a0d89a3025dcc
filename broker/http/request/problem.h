/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/writer.h"

/* A refusal, as clients read it (RFC 9457): one sentence with the cause and, where there is one,
 * the next step, and a short stable word for programs. */

struct problem {
    int status;
    const char *code;     /* a literal: "bad-json", "unknown-field", … */
    char field[96];       /* the field at fault, or "" */
    char detail[512];     /* never holds a secret */
    unsigned retry_after; /* seconds; 0: none */
    const char *leader;   /* URL of the broker that leads, until the problem is written; or NULL */
};

/* Sets all, the leader to none, cut to fit, and returns -1, so that `return problem_set(…)` is one
 * statement. field may be NULL. 503 and 429 get a retry_after of one second. */
__attribute__((format(printf, 5, 6))) int problem_set(struct problem *problem, int status,
                                                      const char *code, const char *field,
                                                      const char *format, ...);

/* The body: application/problem+json. */
void problem_write(const struct problem *problem, struct writer *writer);
/* As the fabric manager writes errors: libfabric reads "message", Slurm "detail". */
void problem_write_fm(const struct problem *problem, struct writer *writer);
