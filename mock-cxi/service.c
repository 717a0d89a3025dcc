/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_TLES = 512 };
static const uint16_t default_vnis[] = {1, 10};

static unsigned int smaller(unsigned int a, unsigned int b)
{
    return a < b ? a : b;
}

void service_add_default(struct state *state, const struct nic *nic)
{
    struct service *service = state_add_service(state, nic->info.dev_id);
    struct cxi_svc_desc *desc = &service->desc;
    service->lnis_per_rgid = 1;
    desc->resource_limits = 1;
    desc->restricted_vnis = 1;
    desc->num_vld_vnis = sizeof default_vnis / sizeof *default_vnis;
    memcpy(desc->vnis, default_vnis, sizeof default_vnis);
    for (int tc = CXI_TC_DEDICATED_ACCESS; tc <= CXI_TC_BEST_EFFORT; tc++)
        desc->tcs[tc] = true;
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++)
        desc->limits.type[type].max = (uint16_t)nic_total(nic, (enum cxi_rsrc_type)type);
    struct cxi_limits *tles = &desc->limits.tles;
    tles->max = tles->res = (uint16_t)smaller(tles->max, DEFAULT_TLES);
}

int service_check(const struct nic *nic, const struct cxi_svc_desc *desc)
{
    if (desc->restricted_vnis && desc->num_vld_vnis > CXI_SVC_MAX_VNIS)
        return -EINVAL;
    for (int i = 0; desc->restricted_vnis && i < desc->num_vld_vnis; i++)
        if (desc->vnis[i] == 0)
            return -EINVAL;
    for (int i = 0; desc->restricted_members && i < CXI_SVC_MAX_MEMBERS; i++)
        if ((unsigned int)desc->members[i].type >= CXI_SVC_MEMBER_MAX)
            return -EINVAL;
    for (int i = 0; desc->resource_limits && i < CXI_RSRC_TYPE_MAX; i++) {
        const struct cxi_limits *limits = &desc->limits.type[i];
        if (limits->max < limits->res || limits->max > nic_total(nic, (enum cxi_rsrc_type)i))
            return -EINVAL;
    }
    return 0;
}

bool service_range_taken(const struct state *state, uint32_t nic, unsigned int id, uint16_t min,
                         uint16_t max, bool singly)
{
    const struct service *others;
    uint32_t count = state_services(state, nic, &others);
    for (uint32_t i = 0; i < count; i++) {
        const struct service *other = &others[i];
        if (other->desc.svc_id == id)
            continue;
        if (other->vni_min && min <= other->vni_max && max >= other->vni_min)
            return true;
        for (int v = 0; singly && other->desc.restricted_vnis && v < other->desc.num_vld_vnis; v++)
            if (other->desc.vnis[v] >= min && other->desc.vnis[v] <= max)
                return true;
    }
    return false;
}

static int check_vnis(const struct state *state, const struct nic *nic, bool shared,
                      const struct cxi_svc_desc *desc)
{
    for (int i = 0; desc->restricted_vnis && i < desc->num_vld_vnis; i++) {
        uint16_t vni = desc->vnis[i];
        if (service_range_taken(state, nic->info.dev_id, 0, vni, vni, !shared))
            return -EEXIST;
        for (int earlier = 0; !shared && earlier < i; earlier++)
            if (desc->vnis[earlier] == vni)
                return -EEXIST;
    }
    return 0;
}

/* How much of a resource no service has reserved. */
static unsigned int unreserved(const struct state *state, const struct nic *nic,
                               enum cxi_rsrc_type type)
{
    const struct service *services;
    uint32_t count = state_services(state, nic->info.dev_id, &services);
    unsigned int reserved = 0;
    for (uint32_t i = 0; i < count; i++)
        reserved += services[i].desc.limits.type[type].res;
    unsigned int total = nic_total(nic, type);
    return total - smaller(total, reserved);
}

/* Who reserves list entries gets a pool of its own; all others share the first one. */
static bool has_pool(const struct state *state, const struct nic *nic, enum cxi_rsrc_type type)
{
    const struct service *services;
    uint32_t count = state_services(state, nic->info.dev_id, &services);
    unsigned int used = type == CXI_RSRC_TYPE_LE;
    for (uint32_t i = 0; i < count; i++)
        used += services[i].desc.limits.type[type].res > 0;
    return used < (type == CXI_RSRC_TYPE_LE ? nic->le_pools : nic->tle_pools);
}

/* Whether the service's limits can be had beside all others, which it completes. */
static int reserve_resources(const struct state *state, const struct nic *nic,
                             struct cxi_svc_desc *desc, struct cxi_svc_fail_info *fail)
{
    struct cxi_rsrc_limits *limits = &desc->limits;
    if (!desc->resource_limits) {
        memset(limits, 0, sizeof *limits);
        for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++)
            limits->type[type].max = (uint16_t)nic_total(nic, (enum cxi_rsrc_type)type);
    }
    if (limits->tles.max > 0 || limits->tles.res > 0) {
        if (limits->tles.res < NIC_TLES_MIN)
            limits->tles.res = NIC_TLES_MIN;
        limits->tles.max = limits->tles.res;
    }
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        if (type == CXI_RSRC_TYPE_TLE || (!limits->type[type].res && !limits->type[type].max))
            continue;
        unsigned int available = unreserved(state, nic, (enum cxi_rsrc_type)type);
        fail->rsrc_avail[type] = (uint16_t)available;
        if (limits->type[type].res > available)
            return -ENOSPC;
    }
    if (limits->les.res > 0 && !has_pool(state, nic, CXI_RSRC_TYPE_LE)) {
        fail->no_le_pools = true;
        return -ENOSPC;
    }
    if (limits->tles.res > unreserved(state, nic, CXI_RSRC_TYPE_TLE))
        return -ENOSPC;
    if (limits->tles.res > 0 && !has_pool(state, nic, CXI_RSRC_TYPE_TLE)) {
        fail->no_tle_pools = true;
        return -ENOSPC;
    }
    return 0;
}

static uint32_t free_tle_pool(const struct state *state, uint32_t nic)
{
    const struct service *services;
    uint32_t count = state_services(state, nic, &services);
    for (uint32_t pool = 0;; pool++) {
        bool used = false;
        for (uint32_t i = 0; i < count; i++)
            used |= services[i].desc.limits.tles.res > 0 && services[i].tle_pool == pool;
        if (!used)
            return pool;
    }
}

int service_alloc(struct state *state, const struct nic *nic, bool shared_vnis,
                  const struct cxi_svc_desc *desc, struct cxi_svc_fail_info *fail)
{
    struct cxi_svc_desc granted = *desc;
    int r;
    if ((r = service_check(nic, desc)) < 0 || (r = check_vnis(state, nic, shared_vnis, desc)) < 0 ||
        (r = reserve_resources(state, nic, &granted, fail)) < 0)
        return r;
    uint32_t tle_pool = granted.limits.tles.res > 0 ? free_tle_pool(state, nic->info.dev_id) : 0;
    struct service *service = state_add_service(state, nic->info.dev_id);
    granted.svc_id = service->desc.svc_id;
    granted.enable = granted.restricted_vnis;
    service->desc = granted;
    service->tle_pool = tle_pool;
    service->lnis_per_rgid = 1;
    return (int)granted.svc_id;
}

/* When a process was started, in ticks since boot; 0: it is no more, or only waited for. */
static uint64_t born_at(int32_t pid)
{
    char path[32];
    char line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    /* proc(5): the program's name, the 2nd field, may hold anything. The 3rd is the process's
     * state, the 22nd the time. */
    const char *at = strrchr(line, ')');
    if (!at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; field < 22 && at; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Whether a living process uses the service. Forgets those that ended. */
static bool is_busy(struct state *state, uint32_t nic, unsigned int service)
{
    bool busy = false;
    for (uint32_t i = state->holders.count; i-- > 0;) {
        const struct holder *holder = rows_at(&state->holders, i);
        if (born_at(holder->pid) != holder->born)
            rows_remove(&state->holders, i);
        else if (holder->nic == nic && holder->service == service)
            busy = true;
    }
    return busy;
}

int service_find_idle(struct state *state, uint32_t nic, unsigned int id, struct service **service)
{
    if (!(*service = state_service(state, nic, id)))
        return -EINVAL;
    return is_busy(state, nic, id) ? -EBUSY : 0;
}

int service_enable(struct service *service, bool enable)
{
    const struct cxi_svc_desc *desc = &service->desc;
    if (enable && !desc->restricted_vnis && desc->num_vld_vnis > 0 && !service->vni_min)
        return -EINVAL;
    service->desc.enable = enable;
    return 0;
}

void service_use(const struct service *service, struct cxi_rsrc_use *use)
{
    const struct cxi_rsrc_limits *limits = &service->desc.limits;
    *use = (struct cxi_rsrc_use){.svc_id = service->desc.svc_id};
    if (limits->les.res == 0)
        use->in_use[CXI_RSRC_TYPE_LE] = NIC_NOT_KNOWN;
    if (limits->tles.res == 0)
        use->in_use[CXI_RSRC_TYPE_TLE] = NIC_NOT_KNOWN;
    else
        use->tle_pool_id = service->tle_pool;
}

static bool is_member(const struct service *service)
{
    const struct cxi_svc_desc *desc = &service->desc;
    if (!desc->restricted_members)
        return true;
    for (int i = 0; i < CXI_SVC_MAX_MEMBERS; i++)
        if ((desc->members[i].type == CXI_SVC_MEMBER_UID &&
             desc->members[i].svc_member.uid == geteuid()) ||
            (desc->members[i].type == CXI_SVC_MEMBER_GID &&
             desc->members[i].svc_member.gid == getegid()))
            return true;
    struct stat mine;
    return service->netns && stat("/proc/self/ns/net", &mine) == 0 && mine.st_ino == service->netns;
}

static struct holder *find_holder(const struct state *state, uint32_t nic, unsigned int lni,
                                  uint32_t *at)
{
    for (*at = 0; *at < state->holders.count; ++*at) {
        struct holder *holder = rows_at(&state->holders, *at);
        if (holder->nic == nic && holder->lni == lni)
            return holder;
    }
    return NULL;
}

int holder_add(struct state *state, uint32_t nic, unsigned int service, unsigned int *lni)
{
    const struct service *used = state_service(state, nic, service);
    if (!used)
        return -EINVAL;
    if (!used->desc.enable)
        return -EKEYREVOKED;
    if (!is_member(used))
        return -EPERM;
    uint32_t at;
    unsigned int number = 1;
    while (find_holder(state, nic, number, &at))
        number++;
    struct holder *holder = rows_insert(&state->holders, state->holders.count);
    *holder = (struct holder){.nic = nic,
                              .service = service,
                              .lni = number,
                              .pid = (int32_t)getpid(),
                              .born = born_at((int32_t)getpid())};
    *lni = number;
    return 0;
}

int holder_remove(struct state *state, uint32_t nic, unsigned int lni)
{
    uint32_t at;
    if (!find_holder(state, nic, lni, &at))
        return -EINVAL;
    rows_remove(&state->holders, at);
    return 0;
}
