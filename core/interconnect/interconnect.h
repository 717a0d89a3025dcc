/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "core/reservation/reservation.h"

/* What a job draws, and what its tasks are told, depends on the interconnect (S6). Each has a file
 * here and a row in the table of interconnect.c; the rest of the core knows the table only. */

/* A new reservation that draws what it is to have. */
struct drawing {
    const struct reserve_request *request;
    const struct reservation *adopted; /* ends when it is granted; or NULL */
    struct reservation_record *record; /* as the request has it; gets what is drawn */
    const char *field, *detail;        /* of a refusal; both live until the next step */
    struct error why;                  /* record->reason may point into it */
};

typedef void variable_fn(void *arg, const char *name, const char *value);

struct interconnect {
    const char *word; /* in the API, in configurations and in launch documents */

    /* ANSWER_CREATED; or what the request is refused with: then nothing was changed but `record`,
     * `field` and `detail`. */
    enum answer_kind (*draw)(struct core *core, struct drawing *drawing);

    /* As environment_each. */
    void (*environment)(const struct core_config *config, const char *fm_url,
                        const struct reservation *reservation, const char *step, variable_fn *each,
                        void *arg);
};

extern const struct interconnect interconnect_slingshot;
