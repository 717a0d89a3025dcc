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

/* What is in the section "driver" of a launch document (launch/document.h). */
enum {
    DRIVER_SERVICES = 1, /* the node makes CXI services: VNIs, traffic classes, cores of a node */
    DRIVER_LAYOUT = 2,   /* tasks of a node and CPUs of a task, if the job told them */
};

struct interconnect {
    unsigned driver; /* bits */

    /* ANSWER_CREATED; or what the request is refused with: then nothing was changed but `record`,
     * `field` and `detail`. */
    enum answer_kind (*draw)(struct core *core, struct drawing *drawing);

    /* As environment_each. */
    void (*environment)(const struct core_config *config, const char *fm_url,
                        const struct reservation *reservation, const char *step, variable_fn *each,
                        void *arg);
};

extern const struct interconnect interconnect_slingshot, interconnect_omnipath, interconnect_none;

const struct interconnect *interconnect_of(int kind); /* enum interconnect_kind */

/* Calls each for every variable of a job's tasks (F16), in a fixed order. Strings are valid during
 * the call; among them are the job's secrets. Slingshot: those of the fabric manager fm_url (or
 * config->job_url, if there is one), for step (NULL: "0", since FI_CXI_COLL_JOB_STEP_ID is never
 * unset). None when hwcoll is not reserved: libfabric then uses no hardware collectives. A relayed
 * job has them in any case, with the broker's URL and its own key. */
void environment_each(const struct core_config *config, const char *fm_url,
                      const struct reservation *reservation, const char *step, variable_fn *each,
                      void *arg);

/* The shared VNIs that the request names become the record's, behind its own, of which it
 * wanted so many (core/requests/share.c). ANSWER_CREATED; or what it is refused with, as by draw.
 */
enum answer_kind share_draw(struct core *core, struct drawing *drawing);
/* Whether the ledger may be older than the jobs that run: what it would give next they may have. */
bool slingshot_may_be_old(const struct core *core);

/* How many partition keys of the pool no job has. */
uint32_t omnipath_pkeys_free(const struct core *core);

/* draw, of an interconnect that has neither VNIs nor traffic classes nor multicast addresses: who
 * asks for any is refused. */
enum answer_kind interconnect_draw_nothing(struct core *core, struct drawing *drawing);
