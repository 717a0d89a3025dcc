/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* SLINGSHOT_*: what libfabric and MPI need to know of a job's services on this node (F8, F12).
 * Pure. */

#include "cxi/abi.h"
#include "node/services/nic.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* SLINGSHOT_VNIS, SLINGSHOT_DEVICES, SLINGSHOT_SVC_IDS, SLINGSHOT_TCS. */
enum variables_name {
    VARIABLES_VNIS,
    VARIABLES_DEVICES,
    VARIABLES_SVC_IDS,
    VARIABLES_TCS,
    VARIABLES_COUNT
};

enum variables_format {
    VARIABLES_SH,    /* export NAME='value', for eval */
    VARIABLES_JSON,  /* one object; null for what is to be unset */
    VARIABLES_NULL,  /* NAME=value, each ended by a NUL byte; what is to be unset is left out */
    VARIABLES_SLURM, /* export NAME=value, for a TaskProlog */
    VARIABLES_NONE,
};

struct variables {
    bool clear;    /* all are to be unset, but for the tasks' */
    json_t *tasks; /* what a launch document has for tasks beside them: texts by name; or NULL */
    unsigned int vni_count, service_count;
    uint16_t vnis[CXI_SVC_MAX_VNIS];
    struct service_place services[NIC_MAX];
    unsigned int traffic_classes; /* those that every service allows */
    /* By enum variables_name; where one is set these are printed as they are, and nothing else. */
    const char *unchecked[VARIABLES_COUNT];
};

extern const char *const variables_names[VARIABLES_COUNT];

enum variables_format variables_format_from_word(const char *word);

/* One more service of the job, on a further NIC. */
void variables_add(struct variables *variables, const char *device,
                   const struct cxi_svc_desc *service);

/* Takes over the services that an outer instance left in the environment, and checks them against
 * what is there (F6). given: the values of variables_names, NULL where unset. With none of them,
 * variables->clear. SLINGSHOT_TCS may be missing: it is found again at the services. ERROR_INVALID:
 * which value is wrong, and why; ERROR_NOT_FOUND, ERROR_IO: why it cannot be known. */
int variables_inherit(struct variables *variables, const char *const given[VARIABLES_COUNT],
                      struct nics *nics, struct error *err);

/* Takes them over as they are, where that cannot be checked. False: a value is none that could be
 * right, or must not get to a shell. */
bool variables_pass(struct variables *variables, const char *const given[VARIABLES_COUNT]);

void variables_print(const struct variables *variables, enum variables_format format, FILE *out);
