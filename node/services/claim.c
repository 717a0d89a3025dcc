/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/claim.h"

#include "base/nodelist.h"
#include "core/reservation/record.h"

#include <stdio.h>
#include <string.h>

/* No job's, whatever is configured (F1). */
enum { VNI_SYSTEM_A = 1, VNI_SYSTEM_B = 10 };

/* A list that cannot be parsed has no node: the broker would have refused it. */
static void read_nodes(struct claim *claim, const char *nodes, const char *node)
{
    static const char more[] = "...";
    uint32_t count;
    struct error err;
    if (!nodes || !nodes[0])
        return;
    claim->elsewhere = nodelist_count(nodes, &count, &err) < 0 || !nodelist_contains(nodes, node);
    int length = snprintf(claim->nodes, sizeof claim->nodes, "%s", nodes);
    if (length >= (int)sizeof claim->nodes)
        strcpy(claim->nodes + sizeof claim->nodes - sizeof more, more);
}

int claim_from_reservation(struct claim *claim, const struct mcast_reservation *reservation,
                           const char *cluster, const char *job, const char *node,
                           struct error *err)
{
    if (!cluster_name_valid(reservation->cluster) || !job_id_valid(reservation->job))
        return error_set(err, ERROR_INVALID, "the reservation has no valid cluster and job name");
    if (strcmp(reservation->job, job) != 0)
        return error_set(err, ERROR_INVALID, "the reservation is of job %.130s, not of %.130s",
                         reservation->job, job);
    if (cluster && strcmp(reservation->cluster, cluster) != 0)
        return error_set(err, ERROR_INVALID, "the reservation is of cluster %s, not of %.40s",
                         reservation->cluster, cluster);
    if (reservation->number == 0 || reservation->number > INT64_MAX)
        return error_set(err, ERROR_INVALID,
                         "the reservation has no number; take it whole, as "
                         "mcastctl show --json prints it");
    *claim = (struct claim){.number = reservation->number,
                            .uid = reservation->uid,
                            .node_count = reservation->node_count,
                            .cores_per_node = reservation->cores_per_node,
                            .active = strcmp(reservation->state, "active") == 0};
    claim_set_name(claim, reservation->cluster, reservation->job);
    read_nodes(claim, reservation->nodes, node);
    for (const char *const *word = reservation->traffic_classes; word && *word; word++)
        claim->traffic_classes |= (unsigned int)traffic_class_from_word(*word);
    for (size_t i = 0; i < reservation->vni_count && i < CXI_SVC_MAX_VNIS; i++)
        claim->vnis[claim->vni_count++] = reservation->vnis[i];
    claim_set_shared(claim, reservation->vnis_shared);
    if (claim->vni_count > 0 && claim->uid == UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "the reservation has no owner (uid), and a service must be "
                         "restricted to its owner");
    return 0;
}

int claim_check_vnis(const struct claim *claim, const struct idset *allowed, struct error *err)
{
    for (unsigned int i = 0; i < claim->vni_count; i++) {
        const uint16_t vni = claim->vnis[i];
        if (vni == VNI_SYSTEM_A || vni == VNI_SYSTEM_B)
            return error_set(err, ERROR_FULL,
                             "the reservation of job %s has VNI %u, which is the system's: nothing "
                             "is done for it; check which broker answers (node.conf: url, cacert)",
                             claim->name, vni);
        if (!idset_has(allowed, vni))
            return error_set(err, ERROR_FULL,
                             "the reservation of job %s has VNI %u, which no job may have on this "
                             "node: nothing is done for it; compare vnis in node.conf with the "
                             "broker's [vni] pool",
                             claim->name, vni);
    }
    return 0;
}

void claim_set_shared(struct claim *claim, int64_t count)
{
    claim->shared_count =
        count > 0 && count < claim->vni_count ? (unsigned int)count : 0; /* one is its own */
}

void claim_set_name(struct claim *claim, const char *cluster, const char *job)
{
    snprintf(claim->cluster, sizeof claim->cluster, "%s", cluster);
    snprintf(claim->job, sizeof claim->job, "%s", job);
    snprintf(claim->name, sizeof claim->name, "%s/%s", cluster, job);
}

const char *claim_vnis(const uint16_t *vnis, unsigned int count, char out[CLAIM_VNIS_TEXT_SIZE])
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned int i = 0; i < count && i < CXI_SVC_MAX_VNIS; i++)
        used += (size_t)snprintf(out + used, CLAIM_VNIS_TEXT_SIZE - used, "%s%u", i ? "," : "",
                                 vnis[i]);
    return out;
}
