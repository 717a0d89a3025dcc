/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that libcxi.map exports. What they mean is in cxi/calls.h, what the driver says to
 * them in service.h; here are only the blocks of memory that callers get, and what
 * libcxi itself refuses. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "cxi/abi.h"
#include "mock-cxi/service.h"
#include "mock-cxi/sysfs.h"
#include "mock-cxi/visit.h"

#define PROTOTYPE(name, returns, parameters, version)                                              \
    __attribute__((visibility("default"))) returns cxil_##name parameters;
CXI_CALLS_NEEDED(PROTOTYPE)
CXI_CALLS_OTHER(PROTOTYPE)

/* A call about one NIC, and one service or FAULT_NONE. */
static int begin(struct visit *visit, const char *call, enum visit_kind kind,
                 const struct cxil_dev *dev, unsigned int svc_id)
{
    return visit_begin(visit, call, kind, dev->info.dev_id, svc_id);
}

/* Also finds the service; -EINVAL when there is none. */
static int begin_at(struct visit *visit, const char *call, enum visit_kind kind,
                    const struct cxil_dev *dev, unsigned int svc_id, struct service **service)
{
    int r = begin(visit, call, kind, dev, svc_id);
    *service = r ? NULL : state_service(&visit->state, dev->info.dev_id, svc_id);
    return r || *service ? r : -EINVAL;
}

/* Ends the call; what was made for the caller is freed if it fails. */
static int end_or_free(struct visit *visit, int result, void *made)
{
    int r = visit_end(visit, result);
    if (r < 0)
        free(made);
    return r;
}

int cxil_get_device_list(struct cxil_device_list **list)
{
    struct visit visit;
    struct cxil_device_list *made = NULL;
    if (!list)
        return -EINVAL;
    int r = visit_begin(&visit, "get_device_list", VISIT_NICS, FAULT_NONE, FAULT_NONE);
    if (!r)
        made = memory_zeroed(sizeof *made + visit.conf->nic_count * sizeof *made->info);
    for (unsigned int i = 0; made && i < visit.conf->nic_count; i++)
        if (visit.conf->nics[i].present)
            made->info[made->count++] = visit.conf->nics[i].info;
    if (made)
        visit_note(&visit, " count=%u", made->count);
    if (made && visit.conf->sysfs)
        sysfs_write(&visit.place, visit.conf);
    if ((r = end_or_free(&visit, r, made)) == 0)
        *list = made;
    return r;
}

void cxil_free_device_list(struct cxil_device_list *list)
{
    free(list);
}

int cxil_open_device(uint32_t dev_id, struct cxil_dev **dev)
{
    struct visit visit;
    struct cxil_dev *made = NULL;
    if (!dev)
        return -EINVAL;
    int r = visit_begin(&visit, "open_device", VISIT_NICS, dev_id, FAULT_NONE);
    if (!r && !visit.nic)
        r = -ENOENT;
    if (!r) {
        made = memory_zeroed(sizeof *made);
        made->info = visit.nic->info;
    }
    if ((r = end_or_free(&visit, r, made)) == 0)
        *dev = made;
    return r;
}

void cxil_close_device(struct cxil_dev *dev)
{
    free(dev);
}

int cxil_get_svc_list(struct cxil_dev *dev, struct cxil_svc_list **list)
{
    struct visit visit;
    struct cxil_svc_list *made = NULL;
    const struct service *services;
    if (!dev || !list)
        return -EINVAL;
    int r = begin(&visit, "get_svc_list", VISIT_LOOK, dev, FAULT_NONE);
    if (!r) {
        uint32_t count = state_services(&visit.state, dev->info.dev_id, &services);
        made = memory_zeroed(sizeof *made + count * sizeof *made->descs);
        for (; made->count < count; made->count++)
            made->descs[made->count] = services[made->count].desc;
        visit_note(&visit, " count=%u", count);
    }
    if ((r = end_or_free(&visit, r, made)) == 0)
        *list = made;
    return r;
}

void cxil_free_svc_list(struct cxil_svc_list *list)
{
    free(list);
}

static void note_descriptor(struct visit *visit, const struct cxi_svc_desc *desc)
{
    static const char *const resources[] = {"ptes", "txqs", "tgqs", "eqs",
                                            "cts",  "les",  "tles", "acs"};
    const char *separator = " vnis=";
    for (int i = 0; desc->restricted_vnis && i < desc->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++) {
        visit_note(visit, "%s%u", separator, desc->vnis[i]);
        separator = ",";
    }
    separator = " tcs=";
    for (int i = 0; desc->restricted_tcs && i < CXI_TC_MAX; i++)
        if (desc->tcs[i]) {
            visit_note(visit, "%s%d", separator, i);
            separator = ",";
        }
    for (int i = 0; desc->restricted_members && i < CXI_SVC_MAX_MEMBERS; i++)
        if (desc->members[i].type != CXI_SVC_MEMBER_IGNORE)
            visit_note(visit, " member=%s:%u",
                       desc->members[i].type == CXI_SVC_MEMBER_UID   ? "uid"
                       : desc->members[i].type == CXI_SVC_MEMBER_GID ? "gid"
                                                                     : "other",
                       desc->members[i].svc_member.uid);
    for (int i = 0; desc->resource_limits && i < CXI_RSRC_TYPE_MAX; i++)
        visit_note(visit, " %s=%u/%u", resources[i], desc->limits.type[i].res,
                   desc->limits.type[i].max);
}

int cxil_alloc_svc(struct cxil_dev *dev, const struct cxi_svc_desc *desc,
                   struct cxi_svc_fail_info *fail_info)
{
    struct visit visit;
    struct cxi_svc_fail_info fail = {.no_le_pools = false};
    if (!dev || !desc)
        return -EINVAL;
    int r = begin(&visit, "alloc_svc", VISIT_CHANGE, dev, FAULT_NONE);
    note_descriptor(&visit, desc);
    if (!r)
        r = service_alloc(&visit.state, visit.nic, visit.conf->shared_vnis, desc, &fail);
    r = visit_end(&visit, r);
    if (r < 0 && fail_info)
        *fail_info = fail;
    return r;
}

int cxil_destroy_svc(struct cxil_dev *dev, unsigned int svc_id)
{
    struct visit visit;
    struct service *service;
    if (!dev || svc_id < 1)
        return -EINVAL;
    int r = begin(&visit, "destroy_svc", VISIT_CHANGE, dev, svc_id);
    if (!r && svc_id == CXI_DEFAULT_SVC_ID)
        r = -EINVAL;
    if (!r && !(r = service_find_idle(&visit.state, dev->info.dev_id, svc_id, &service)))
        state_remove_service(&visit.state, service);
    return visit_end(&visit, r);
}

int cxil_get_svc_rsrc_use(struct cxil_dev *dev, unsigned int svc_id, struct cxi_rsrc_use *use)
{
    struct visit visit;
    struct service *service;
    if (!dev || !use)
        return -EINVAL;
    int r = begin_at(&visit, "get_svc_rsrc_use", VISIT_LOOK, dev, svc_id, &service);
    if (!r)
        service_use(service, use);
    return visit_end(&visit, r);
}

int cxil_set_svc_lpr(struct cxil_dev *dev, unsigned int svc_id, unsigned int lnis_per_rgid)
{
    struct visit visit;
    struct service *service;
    if (!dev)
        return -EINVAL;
    int r = begin(&visit, "set_svc_lpr", VISIT_CHANGE, dev, svc_id);
    visit_note(&visit, " lpr=%u", lnis_per_rgid);
    if (!r && lnis_per_rgid > NIC_LNIS_PER_RGID)
        r = -EINVAL;
    if (!r && !(r = service_find_idle(&visit.state, dev->info.dev_id, svc_id, &service)))
        service->lnis_per_rgid = lnis_per_rgid;
    return visit_end(&visit, r);
}

int cxil_get_svc_lpr(struct cxil_dev *dev, unsigned int svc_id)
{
    struct visit visit;
    struct service *service;
    if (!dev)
        return -EINVAL;
    int r = begin_at(&visit, "get_svc_lpr", VISIT_LOOK, dev, svc_id, &service);
    return visit_end(&visit, r ? r : (int)service->lnis_per_rgid);
}

int cxil_get_svc(struct cxil_dev *dev, unsigned int svc_id, struct cxi_svc_desc *desc)
{
    struct visit visit;
    struct service *service;
    if (!dev || !desc)
        return -EINVAL;
    int r = begin_at(&visit, "get_svc", VISIT_LOOK, dev, svc_id, &service);
    if (!r)
        *desc = service->desc;
    return visit_end(&visit, r);
}

/* Everything but resource limits. */
int cxil_update_svc(struct cxil_dev *dev, const struct cxi_svc_desc *desc,
                    struct cxi_svc_fail_info *fail_info)
{
    struct visit visit;
    struct service *service;
    if (!dev || !desc)
        return -EINVAL;
    int r = begin(&visit, "update_svc", VISIT_CHANGE, dev, desc->svc_id);
    note_descriptor(&visit, desc);
    if (!r && !(r = service_check(visit.nic, desc)))
        r = service_find_idle(&visit.state, dev->info.dev_id, desc->svc_id, &service);
    if (!r && service->desc.resource_limits != desc->resource_limits)
        r = -EINVAL;
    if (!r && !(r = service_enable(service, desc->enable))) {
        const struct cxi_svc_desc before = service->desc;
        service->desc = *desc;
        service->desc.limits = before.limits;
        service->desc.is_system_svc = before.is_system_svc;
    }
    r = visit_end(&visit, r);
    if (r < 0 && fail_info)
        *fail_info = (struct cxi_svc_fail_info){.no_le_pools = false};
    return r;
}

int cxil_get_svc_rsrc_list(struct cxil_dev *dev, struct cxil_svc_rsrc_list **list)
{
    struct visit visit;
    struct cxil_svc_rsrc_list *made = NULL;
    const struct service *services;
    if (!dev || !list)
        return -EINVAL;
    int r = begin(&visit, "get_svc_rsrc_list", VISIT_LOOK, dev, FAULT_NONE);
    if (!r) {
        uint32_t count = state_services(&visit.state, dev->info.dev_id, &services);
        made = memory_zeroed(sizeof *made + count * sizeof *made->rsrcs);
        for (; made->count < count; made->count++)
            service_use(&services[made->count], &made->rsrcs[made->count]);
    }
    if ((r = end_or_free(&visit, r, made)) == 0)
        *list = made;
    return r;
}

void cxil_free_svc_rsrc_list(struct cxil_svc_rsrc_list *list)
{
    free(list);
}

int cxil_svc_enable(struct cxil_dev *dev, unsigned int svc_id, bool enable)
{
    struct visit visit;
    struct service *service;
    if (!dev || svc_id < 1)
        return -EINVAL;
    int r = begin(&visit, "svc_enable", VISIT_CHANGE, dev, svc_id);
    visit_note(&visit, " enable=%d", enable);
    if (!r && !(r = service_find_idle(&visit.state, dev->info.dev_id, svc_id, &service)))
        r = service_enable(service, enable);
    return visit_end(&visit, r);
}

/* With a VNI range only. */
int cxil_svc_set_exclusive_cp(struct cxil_dev *dev, unsigned int svc_id, bool exclusive_cp)
{
    struct visit visit;
    struct service *service;
    if (!dev || svc_id < 1)
        return -EINVAL;
    int r = begin_at(&visit, "svc_set_exclusive_cp", VISIT_CHANGE, dev, svc_id, &service);
    if (!r && (service->desc.restricted_vnis || !service->vni_min))
        r = -EINVAL;
    if (!r && service->desc.enable)
        r = -EBUSY;
    if (!r)
        service->exclusive_cp = exclusive_cp;
    return visit_end(&visit, r);
}

int cxil_svc_get_exclusive_cp(struct cxil_dev *dev, unsigned int svc_id, bool *exclusive_cp)
{
    struct visit visit;
    struct service *service;
    if (!dev || !exclusive_cp)
        return -EINVAL;
    int r = begin_at(&visit, "svc_get_exclusive_cp", VISIT_LOOK, dev, svc_id, &service);
    if (!r && !service->vni_min && !service->desc.num_vld_vnis)
        r = -ENOENT;
    if (!r)
        *exclusive_cp = service->exclusive_cp;
    return visit_end(&visit, r);
}

/* For services whose VNIs are not restricted; a power of two of them, aligned. */
int cxil_svc_set_vni_range(struct cxil_dev *dev, unsigned int svc_id, uint16_t vni_min,
                           uint16_t vni_max)
{
    struct visit visit;
    struct service *service;
    const unsigned int count = 1u + vni_max - vni_min;
    if (!dev || svc_id < 1)
        return -EINVAL;
    int r = begin_at(&visit, "svc_set_vni_range", VISIT_CHANGE, dev, svc_id, &service);
    visit_note(&visit, " vnis=%u-%u", vni_min, vni_max);
    if (!r && (service->desc.restricted_vnis || vni_min == 0 || vni_max < vni_min ||
               (count & (count - 1)) != 0 || (vni_min & (count - 1)) != 0))
        r = -EINVAL;
    if (!r && service_range_taken(&visit.state, service->nic, svc_id, vni_min, vni_max, true))
        r = -EEXIST;
    if (!r) {
        service->vni_min = vni_min;
        service->vni_max = vni_max;
        service->desc.num_vld_vnis = 1;
    }
    return visit_end(&visit, r);
}

int cxil_svc_get_vni_range(struct cxil_dev *dev, unsigned int svc_id, uint16_t *vni_min,
                           uint16_t *vni_max)
{
    struct visit visit;
    struct service *service;
    if (!dev || !vni_min || !vni_max || svc_id < 1)
        return -EINVAL;
    int r = begin_at(&visit, "svc_get_vni_range", VISIT_LOOK, dev, svc_id, &service);
    if (!r && !service->vni_min)
        r = -EINVAL;
    if (!r) {
        *vni_min = service->vni_min;
        *vni_max = service->vni_max;
    }
    return visit_end(&visit, r);
}

int cxil_svc_set_netns(struct cxil_dev *dev, unsigned int svc_id, unsigned int netns)
{
    struct visit visit;
    struct service *service;
    if (!dev || svc_id < 1)
        return -EINVAL;
    int r = begin_at(&visit, "svc_set_netns", VISIT_CHANGE, dev, svc_id, &service);
    visit_note(&visit, " netns=%u", netns);
    /* It has other members, or no members are required. */
    if (!r && !service->desc.restricted_members)
        r = -EEXIST;
    for (int i = 0; !r && i < CXI_SVC_MAX_MEMBERS; i++)
        if (service->desc.members[i].type == CXI_SVC_MEMBER_UID ||
            service->desc.members[i].type == CXI_SVC_MEMBER_GID)
            r = -EEXIST;
    if (!r)
        service->netns = netns;
    return visit_end(&visit, r);
}

int cxil_svc_get_netns(struct cxil_dev *dev, unsigned int svc_id, unsigned int *netns)
{
    struct visit visit;
    struct service *service;
    if (!dev || !netns || svc_id < 1)
        return -EINVAL;
    int r = begin_at(&visit, "svc_get_netns", VISIT_LOOK, dev, svc_id, &service);
    if (!r && !service->netns)
        r = -EINVAL;
    if (!r)
        *netns = service->netns;
    return visit_end(&visit, r);
}

/* What alloc_lni gives: the caller sees the first member. */
struct lni {
    struct cxil_lni lni;
    unsigned int nic;
    unsigned int service;
};

int cxil_alloc_lni(struct cxil_dev *dev, struct cxil_lni **lni, unsigned int svc_id)
{
    struct visit visit;
    if (!dev || !lni || svc_id < 1)
        return -EINVAL;
    struct lni *made = memory_zeroed(sizeof *made);
    *made = (struct lni){.nic = dev->info.dev_id, .service = svc_id};
    int r = visit_begin(&visit, "alloc_lni", VISIT_USE, made->nic, svc_id);
    if (!r)
        r = holder_add(&visit.state, made->nic, svc_id, &made->lni.id);
    if ((r = end_or_free(&visit, r, made)) == 0)
        *lni = &made->lni;
    return r;
}

int cxil_destroy_lni(struct cxil_lni *lni)
{
    struct visit visit;
    if (!lni)
        return -EINVAL;
    struct lni *made = (struct lni *)lni;
    int r = visit_begin(&visit, "destroy_lni", VISIT_USE, made->nic, made->service);
    if (!r)
        r = holder_remove(&visit.state, made->nic, lni->id);
    r = visit_end(&visit, r);
    if (r == 0)
        free(made);
    return r;
}

/* Nothing is ever sent or received, so no counter ever counted. */
int cxil_read_cntr(struct cxil_dev *dev, unsigned int counter, uint64_t *value,
                   struct timespec *when)
{
    struct visit visit;
    if (!dev || !value)
        return -EINVAL;
    int r = begin(&visit, "read_cntr", VISIT_LOOK, dev, FAULT_NONE);
    visit_note(&visit, " counter=%u", counter);
    if ((r = visit_end(&visit, r)) < 0)
        return r;
    *value = 0;
    if (when)
        clock_gettime(CLOCK_REALTIME, when);
    return 0;
}
