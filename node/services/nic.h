/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The node's NICs, as they were when one looked, and the services on them. */

#include "base/error.h"
#include "cxi/abi.h"

#include <stdbool.h>

enum { NIC_MAX = 16, NIC_NAME_SIZE = 16 }; /* a report has room for 16 (issue 5) */

struct nic {
    struct cxil_devinfo info;
    char name[NIC_NAME_SIZE];       /* "cxi0"; [A-Za-z0-9_.-]+, else it is not taken */
    struct cxil_dev *device;        /* NULL: it could not be opened, or not be read */
    struct cxil_svc_list *services; /* NULL: likewise */
    int failure;                    /* -errno of that */
};

struct nics {
    const struct cxi_calls *calls;
    unsigned int count;
    struct nic at[NIC_MAX];   /* by device number */
    char gone[NIC_NAME_SIZE]; /* the last that went away since it was listed; "": none */
};

/* A service on a NIC. */
struct service_place {
    char device[NIC_NAME_SIZE];
    unsigned int id;
};

/* Chooses services. */
typedef bool nic_service_fn(void *arg, const struct nic *nic, const struct cxi_svc_desc *service);

/* libcxi, opened at run time: one program for nodes with and without NICs. Its functions are valid
 * until the program ends. name: "libcxi.so.1", or a path. ERROR_NOT_FOUND: it is not installed;
 * ERROR_INVALID: what was found is no libcxi that can be used. */
int library_open(const struct cxi_calls **out, const char *name, struct error *err);

/* Lists the NICs, opens each and reads its services. A NIC that is gone before it can be opened is
 * left out; one that is there and fails has `failure`. ERROR_IO: the list cannot be had. */
int nics_open(struct nics *nics, const struct cxi_calls *calls, struct error *err);
void nics_close(struct nics *nics);

/* Reads the services anew. 0 or -errno; then `services` is NULL. */
int nic_refresh(const struct nics *nics, struct nic *nic);

/* NULL: there is none of this name. */
struct nic *nics_find(struct nics *nics, const char *name);

/* The NIC's first service that is chosen, or NULL. */
const struct cxi_svc_desc *nic_service(const struct nic *nic, nic_service_fn *choose, void *arg);

/* The first that failed, or NULL. */
const struct nic *nics_failed(const struct nics *nics);
