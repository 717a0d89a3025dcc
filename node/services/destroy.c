/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/destroy.h"

#include "node/services/match.h"

#include <errno.h>
#include <stdio.h>

void destroy_add_left(struct destroy_result *result, const char *device, unsigned int id,
                      int failure)
{
    if (result->left_count == DESTROY_LEFT_MAX)
        return;
    struct destroy_left *left = &result->left[result->left_count++];
    *left = (struct destroy_left){.id = id, .failure = failure};
    snprintf(left->device, sizeof left->device, "%s", device);
}

static bool is_there(const struct nics *nics, struct nic *nic, unsigned int id)
{
    return nic_refresh(nics, nic) < 0 || match_by_id(nic->services, id);
}

/* One try on one NIC. */
static void destroy_on_nic(struct nics *nics, struct nic *nic, nic_service_fn *meant, void *arg,
                           struct destroy_result *result)
{
    unsigned int ids[DESTROY_LEFT_MAX], count = 0;
    if (nic_refresh(nics, nic) < 0) {
        destroy_add_left(result, nic->name, 0, nic->failure);
        return;
    }
    for (unsigned int i = 0; i < nic->services->count && count < DESTROY_LEFT_MAX; i++) {
        const struct cxi_svc_desc *service = &nic->services->descs[i];
        if (!match_is_system(service) && meant(arg, nic, service))
            ids[count++] = service->svc_id;
    }
    for (unsigned int i = 0; i < count; i++) {
        int failure = nics->calls->destroy_svc(nic->device, ids[i]);
        /* A call that failed may have had its effect, or another process may have destroyed it. */
        if (failure < 0 && (failure == -EBUSY || is_there(nics, nic, ids[i])))
            destroy_add_left(result, nic->name, ids[i], failure);
        else
            result->destroyed++;
    }
    (void)nic_refresh(nics, nic);
}

static bool any_busy(const struct destroy_result *result)
{
    for (unsigned int i = 0; i < result->left_count; i++) {
        if (result->left[i].failure == -EBUSY)
            return true;
    }
    return false;
}

void destroy_services(struct nics *nics, nic_service_fn *meant, void *arg, struct retry *retry,
                      struct destroy_result *result)
{
    result->destroyed = 0;
    do {
        result->left_count = 0;
        for (unsigned int i = 0; i < nics->count; i++)
            destroy_on_nic(nics, &nics->at[i], meant, arg, result);
    } while (any_busy(result) && retry_pause(retry));
}
