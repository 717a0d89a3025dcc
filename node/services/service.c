/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/service.h"

#include "core/reservation/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Each answer of -ENOSPC reduces at least one reservation, down to 0; other processes may allocate
 * meanwhile, outside our lock. */
enum { TRIES_MAX = 4 * CXI_RSRC_TYPE_MAX };

/* SLINGSHOT_TCS's bits are 1 << enum cxi_traffic_class, and so are enum traffic_class's. */
_Static_assert(TC_DEDICATED_ACCESS == 1 << CXI_TC_DEDICATED_ACCESS &&
                   TC_LOW_LATENCY == 1 << CXI_TC_LOW_LATENCY &&
                   TC_BULK_DATA == 1 << CXI_TC_BULK_DATA &&
                   TC_BEST_EFFORT == 1 << CXI_TC_BEST_EFFORT,
               "the bits of F12");

bool service_is_system(const struct cxi_svc_desc *service)
{
    return service->is_system_svc || service->svc_id == CXI_DEFAULT_SVC_ID;
}

/* Its only member is one user, who is written to *uid. */
static bool has_one_user(const struct cxi_svc_desc *service, uint32_t *uid)
{
    unsigned int users = 0;
    for (int i = 0; i < CXI_SVC_MAX_MEMBERS; i++) {
        if (service->members[i].type == CXI_SVC_MEMBER_IGNORE)
            continue;
        if (service->members[i].type != CXI_SVC_MEMBER_UID)
            return false;
        *uid = service->members[i].svc_member.uid;
        users++;
    }
    return users == 1;
}

bool service_looks_ours(const struct cxi_svc_desc *service)
{
    uint32_t uid;
    return !service_is_system(service) && service->restricted_members && service->restricted_vnis &&
           service->restricted_tcs && service->num_vld_vnis > 0 && has_one_user(service, &uid);
}

bool service_has_vni(const struct cxi_svc_desc *service, uint16_t vni)
{
    for (unsigned int i = 0; i < service->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++) {
        if (service->vnis[i] == vni)
            return true;
    }
    return false;
}

bool service_is_of(const struct cxi_svc_desc *service, uint32_t uid, const uint16_t *vnis,
                   unsigned int vni_count)
{
    uint32_t user;
    if (vni_count == 0 || !service_looks_ours(service) || service->num_vld_vnis != vni_count ||
        !has_one_user(service, &user) || user != uid)
        return false;
    for (unsigned int i = 0; i < vni_count; i++) {
        if (!service_has_vni(service, vnis[i]))
            return false;
    }
    return true;
}

const struct cxi_svc_desc *service_by_id(const struct cxil_svc_list *services, unsigned int id)
{
    for (unsigned int i = 0; services && i < services->count; i++) {
        if (services->descs[i].svc_id == id)
            return &services->descs[i];
    }
    return NULL;
}

unsigned int service_traffic_classes(const struct cxi_svc_desc *service)
{
    unsigned int bits = 0;
    for (int tc = CXI_TC_DEDICATED_ACCESS; tc <= CXI_TC_BEST_EFFORT; tc++) {
        if (!service->restricted_tcs || service->tcs[tc])
            bits |= 1U << tc;
    }
    return bits;
}

const char *service_describe(const struct cxi_svc_desc *service, char out[SERVICE_TEXT_SIZE])
{
    char vnis[CLAIM_VNIS_TEXT_SIZE], user[16];
    const char *who = service_is_system(service)     ? "system"
                      : !service->restricted_members ? "everybody"
                                                     : "several users or groups";
    uint32_t uid;
    if (!service_is_system(service) && service->restricted_members && has_one_user(service, &uid)) {
        snprintf(user, sizeof user, "uid %u", uid);
        who = user;
    }
    claim_vnis(service->vnis, service->num_vld_vnis, vnis);
    snprintf(out, SERVICE_TEXT_SIZE, "%s, %s%s", who,
             !service->restricted_vnis    ? "any VNI"
             : service->num_vld_vnis == 1 ? "VNI "
                                          : "VNIs ",
             service->restricted_vnis ? vnis : "");
    return out;
}

/* ---- Making ---- */

/* The descriptor of a job's service, with what the fit grants. */
static void fill_descriptor(struct cxi_svc_desc *desc, const struct service_order *order,
                            const struct fit *fit)
{
    const struct claim *claim = order->claim;
    *desc = (struct cxi_svc_desc){.restricted_members = 1,
                                  .restricted_vnis = 1,
                                  .restricted_tcs = 1,
                                  .resource_limits = 1,
                                  .num_vld_vnis = (uint8_t)claim->vni_count,
                                  .limits = fit->limits};
    memcpy(desc->vnis, claim->vnis, sizeof desc->vnis);
    desc->members[0].type = CXI_SVC_MEMBER_UID;
    desc->members[0].svc_member.uid = claim->uid;
    for (int tc = CXI_TC_DEDICATED_ACCESS; tc <= CXI_TC_BEST_EFFORT; tc++)
        desc->tcs[tc] = (order->traffic_classes >> tc & 1U) != 0;
}

/* A VNI can be one service's only; a leftover may still have it. */
static int explain_taken(const struct nic *nic, const struct claim *claim, struct error *err)
{
    char who[SERVICE_TEXT_SIZE];
    for (unsigned int i = 0; nic->services && i < nic->services->count; i++) {
        const struct cxi_svc_desc *service = &nic->services->descs[i];
        for (unsigned int v = 0; v < claim->vni_count; v++) {
            if (service_has_vni(service, claim->vnis[v]))
                return error_set(err, ERROR_REFUSED,
                                 "%s: VNI %u is still in use by service %u (%s); mcast-node clean "
                                 "--dry-run shows whether that is a leftover",
                                 nic->name, claim->vnis[v], service->svc_id,
                                 service_describe(service, who));
        }
    }
    return error_set(err, ERROR_REFUSED,
                     "%s: the driver says that a VNI of the job is in use, but no service has it; "
                     "look at dmesg",
                     nic->name);
}

static int explain_failure(const struct nic *nic, const struct claim *claim, int failure,
                           struct error *err)
{
    static const struct {
        int failure;
        const char *why;
    } known[] = {
        {-EPERM, ": that needs CAP_SYS_ADMIN; run it as root"},
        {-ENOSPC, ", not even without any reservation; mcast-node list shows who holds "
                  "what"},
        {-EINVAL, ": the driver calls it invalid; compare max_… of node.conf with mcast-node list "
                  "--max, and look at dmesg"},
    };
    if (failure == -EEXIST)
        return explain_taken(nic, claim, err);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].failure == failure)
            return error_set(err, ERROR_REFUSED, "%s: no service%s", nic->name, known[i].why);
    }
    return error_set(err, ERROR_IO, "%s: no service: %s; look at dmesg", nic->name,
                     strerror(-failure));
}

/* Because of what the fit lacks, when all is wanted or nothing. */
static int refuse_less(const struct nic *nic, struct error *err)
{
    return error_set(err, ERROR_FULL,
                     "%s: no service: less is free than the job wants, and with adjust_limits = no "
                     "it is to have all or nothing",
                     nic->name);
}

int service_create(const struct nics *nics, struct nic *nic, const struct service_order *order,
                   struct fit *fit, struct error *err)
{
    const struct cxi_svc_desc *there = nic_service(nic, order->is_there, order->arg);
    if (there) {
        *fit = (struct fit){.want = there->limits, .limits = there->limits};
        return (int)there->svc_id;
    }
    /* Of the pools the driver knows best. */
    fit_compute(fit, &order->want, nic, order->plan ? fit_count_pools(nic) : (struct fit_pools){0});
    if (order->exact && fit_lacks_any(fit))
        return refuse_less(nic, err);
    if (order->plan)
        return 0;
    int id = -ENOSPC;
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        struct cxi_svc_fail_info info = {0};
        struct cxi_svc_desc desc;
        fill_descriptor(&desc, order, fit);
        id = nics->calls->alloc_svc(nic->device, &desc, &info);
        /* Another process may have been faster; if not, the driver counts more than it lists. */
        if (id != -ENOSPC || nic_refresh(nics, nic) < 0 ||
            !(fit_tighten(fit, nic) || fit_shrink(fit, &info)))
            break;
        if (order->exact)
            return refuse_less(nic, err);
    }
    if (id > 0)
        return id;
    /* A call that was cut short may have had its effect. */
    if (id == -EINTR && nic_refresh(nics, nic) == 0 &&
        (there = nic_service(nic, order->is_there, order->arg)))
        return (int)there->svc_id;
    return explain_failure(nic, order->claim, id == 0 ? -EIO : id, err);
}

/* ---- Destroying ---- */

void services_add_left(struct services_left *result, const char *device, unsigned int id,
                       int failure)
{
    if (result->left_count == SERVICES_LEFT_MAX)
        return;
    struct service_left *left = &result->left[result->left_count++];
    *left = (struct service_left){.id = id, .failure = failure};
    result->busy |= failure == -EBUSY;
    snprintf(left->device, sizeof left->device, "%s", device);
}

/* One try on one NIC. */
static void destroy_on_nic(struct nics *nics, struct nic *nic, nic_service_fn *meant, void *arg,
                           struct services_left *result)
{
    unsigned int ids[SERVICES_LEFT_MAX], count = 0;
    if (nic_refresh(nics, nic) < 0) {
        services_add_left(result, nic->name, 0, nic->failure);
        return;
    }
    for (unsigned int i = 0; i < nic->services->count && count < SERVICES_LEFT_MAX; i++) {
        const struct cxi_svc_desc *service = &nic->services->descs[i];
        if (!service_is_system(service) && meant(arg, nic, service))
            ids[count++] = service->svc_id;
    }
    for (unsigned int i = 0; i < count; i++) {
        int failure = nics->calls->destroy_svc(nic->device, ids[i]);
        /* A call that failed may have had its effect, or another process may have destroyed it. */
        if (failure < 0 && (failure == -EBUSY || nic_refresh(nics, nic) < 0 ||
                            service_by_id(nic->services, ids[i])))
            services_add_left(result, nic->name, ids[i], failure);
    }
    (void)nic_refresh(nics, nic);
}

void services_destroy(struct nics *nics, nic_service_fn *meant, void *arg, struct retry *retry,
                      struct services_left *result)
{
    do {
        result->left_count = 0;
        result->busy = false;
        for (unsigned int i = 0; i < nics->count; i++)
            destroy_on_nic(nics, &nics->at[i], meant, arg, result);
    } while (result->busy && retry_pause(retry));
}

unsigned int services_count(const struct nics *nics, nic_service_fn *meant, void *arg, bool print,
                            const char *job)
{
    unsigned int count = 0;
    char who[SERVICE_TEXT_SIZE];
    for (unsigned int i = 0; i < nics->count; i++) {
        const struct nic *nic = &nics->at[i];
        for (unsigned int s = 0; nic->services && s < nic->services->count; s++) {
            const struct cxi_svc_desc *service = &nic->services->descs[s];
            if (!meant(arg, nic, service))
                continue;
            count++;
            if (print)
                printf("%s: would destroy service %u %s%s%s\n", nic->name, service->svc_id,
                       job ? "of job " : "(", job ? job : service_describe(service, who),
                       job ? "" : ")");
        }
    }
    return count;
}
