/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* CXI services: which are a job's, and which must not be changed (F11); making one for a job (F7),
 * and destroying them, with retries while they are busy (F9). Nothing else does either. */

#include "node/retry.h"
#include "node/services/claim.h"
#include "node/services/fit.h"
#include "node/services/nic.h"

/* The default service, and what the system made for itself. */
bool service_is_system(const struct cxi_svc_desc *service);

/* Exactly: only this uid, no VNIs but these (in any order), traffic classes restricted, not
 * the system's. Ids are used again by the driver, so that they prove nothing. */
bool service_is_of(const struct cxi_svc_desc *service, uint32_t uid, const uint16_t *vnis,
                   unsigned int vni_count);

/* Whether it looks as those that are made here: one uid, VNIs and traffic classes restricted, not
 * the system's. */
bool service_looks_ours(const struct cxi_svc_desc *service);

const struct cxi_svc_desc *service_by_id(const struct cxil_svc_list *services, unsigned int id);

/* Whether the service may use the VNI. */
bool service_has_vni(const struct cxi_svc_desc *service, uint16_t vni);

/* The traffic classes that the service allows, as bits of enum traffic_class: SLINGSHOT_TCS. */
unsigned int service_traffic_classes(const struct cxi_svc_desc *service);

enum { SERVICE_TEXT_SIZE = 96 };

/* Who may use it, for people: "uid 5588, VNI 1024", "system, VNIs 1,10". Returns out. */
const char *service_describe(const struct cxi_svc_desc *service, char out[SERVICE_TEXT_SIZE]);

struct service_order {
    const struct claim *claim;
    struct cxi_rsrc_limits want;
    unsigned int traffic_classes; /* bits of enum traffic_class */
    bool exact;                   /* all that is wanted, or nothing */
    bool plan;                    /* nothing is made: 0 instead of an id */
    nic_service_fn *is_there;     /* whether a service is the job's already */
    void *arg;
};

/* Makes one on the NIC unless there is one already; its services have just been read. Returns the
 * id, and in *fit what it was given (all wanted, if it was there). Negative, with NIC, cause and
 * next step: ERROR_FULL when an exact order cannot be met, *fit then has what it lacks;
 * ERROR_REFUSED or ERROR_IO when no job could have one. Then nothing was made. Other processes must
 * not allocate meanwhile (statedir_lock), else less may be granted than could be. */
int service_create(const struct nics *nics, struct nic *nic, const struct service_order *order,
                   struct fit *fit, struct error *err);

enum { SERVICES_LEFT_MAX = 2 * NIC_MAX };

struct service_left {
    char device[NIC_NAME_SIZE];
    unsigned int id; /* 0: not known, the NIC could not be asked */
    int failure;     /* -EBUSY: in use still; else the NIC or the driver failed */
};

struct services_left {
    bool busy; /* some of it is in use */
    unsigned int left_count;
    struct service_left left[SERVICES_LEFT_MAX];
};

/* Destroys what is meant on every NIC, never a system service; tries again while any of it is busy
 * and time is left. The filter is called again before each try, because ids are used again.
 * Afterwards the services of `nics` are as they were last read. */
void services_destroy(struct nics *nics, nic_service_fn *meant, void *arg, struct retry *retry,
                      struct services_left *result);

/* One more that is left; beyond SERVICES_LEFT_MAX nothing. */
void services_add_left(struct services_left *result, const char *device, unsigned int id,
                       int failure);

/* How many are meant; prints them as what would be destroyed, when asked to. job: whose they are;
 * NULL: that is not known, and they are described. */
unsigned int services_count(const struct nics *nics, nic_service_fn *meant, void *arg, bool print,
                            const char *job);
