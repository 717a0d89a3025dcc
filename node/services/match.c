/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/match.h"

#include "core/reservation/record.h"

#include <stdio.h>

/* SLINGSHOT_TCS's bits are 1 << enum cxi_traffic_class, and so are enum traffic_class's. */
_Static_assert(TC_DEDICATED_ACCESS == 1 << CXI_TC_DEDICATED_ACCESS &&
                   TC_LOW_LATENCY == 1 << CXI_TC_LOW_LATENCY &&
                   TC_BULK_DATA == 1 << CXI_TC_BULK_DATA &&
                   TC_BEST_EFFORT == 1 << CXI_TC_BEST_EFFORT,
               "the bits of F12");

bool match_is_system(const struct cxi_svc_desc *service)
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

bool match_looks_ours(const struct cxi_svc_desc *service)
{
    uint32_t uid;
    return !match_is_system(service) && service->restricted_members && service->restricted_vnis &&
           service->restricted_tcs && service->num_vld_vnis > 0 && has_one_user(service, &uid);
}

bool match_has_vni(const struct cxi_svc_desc *service, uint16_t vni)
{
    for (unsigned int i = 0; i < service->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++) {
        if (service->vnis[i] == vni)
            return true;
    }
    return false;
}

bool match_is_of(const struct cxi_svc_desc *service, uint32_t uid, const uint16_t *vnis,
                 unsigned int vni_count)
{
    uint32_t user;
    if (vni_count == 0 || !match_looks_ours(service) || service->num_vld_vnis != vni_count ||
        !has_one_user(service, &user) || user != uid)
        return false;
    for (unsigned int i = 0; i < vni_count; i++) {
        if (!match_has_vni(service, vnis[i]))
            return false;
    }
    return true;
}

const struct cxi_svc_desc *match_by_id(const struct cxil_svc_list *services, unsigned int id)
{
    for (unsigned int i = 0; services && i < services->count; i++) {
        if (services->descs[i].svc_id == id)
            return &services->descs[i];
    }
    return NULL;
}

unsigned int match_traffic_classes(const struct cxi_svc_desc *service)
{
    unsigned int bits = 0;
    for (int tc = CXI_TC_DEDICATED_ACCESS; tc <= CXI_TC_BEST_EFFORT; tc++) {
        if (!service->restricted_tcs || service->tcs[tc])
            bits |= 1U << tc;
    }
    return bits;
}

static int describe_members(const struct cxi_svc_desc *service, char *out, size_t size)
{
    uint32_t uid;
    if (match_is_system(service))
        return snprintf(out, size, "system");
    if (!service->restricted_members)
        return snprintf(out, size, "everybody");
    if (has_one_user(service, &uid))
        return snprintf(out, size, "uid %u", uid);
    return snprintf(out, size, "several users or groups");
}

const char *match_describe(const struct cxi_svc_desc *service, char out[MATCH_TEXT_SIZE])
{
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    int used = describe_members(service, out, MATCH_TEXT_SIZE);
    claim_vnis(service->vnis, service->num_vld_vnis, vnis);
    if (!service->restricted_vnis)
        snprintf(out + used, MATCH_TEXT_SIZE - (size_t)used, ", any VNI");
    else
        snprintf(out + used, MATCH_TEXT_SIZE - (size_t)used, ", VNI%s %s",
                 service->num_vld_vnis == 1 ? "" : "s", vnis);
    return out;
}
