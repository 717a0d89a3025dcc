/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/names.h"
#include "client/fault.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool consists_of(const char *text, size_t max, const char *allowed)
{
    size_t length = strlen(text);
    return length > 0 && length <= max && strspn(text, allowed) == length;
}

int names_check_cluster(const char *cluster, struct mcast_error *error)
{
    if (!cluster)
        return fault_set(error, MCAST_USAGE, "no cluster is named");
    if (!consists_of(cluster, NAMES_CLUSTER_MAX, LETTERS DIGITS "_"))
        return fault_set(error, MCAST_USAGE,
                         "'%.40s' is no name of a cluster: 1 to %d of a-z, 0-9 and _", cluster,
                         NAMES_CLUSTER_MAX);
    return 0;
}

int names_check_job(const char *job, struct mcast_error *error)
{
    if (!job)
        return fault_set(error, MCAST_USAGE, "no job is named");
    if (!consists_of(job, NAMES_JOB_MAX, LETTERS CAPITALS DIGITS "._:@+-"))
        return fault_set(error, MCAST_USAGE,
                         "'%.140s' is no job id: 1 to %d letters, digits and . _ : @ + -", job,
                         NAMES_JOB_MAX);
    return 0;
}

int names_check_step(const char *step, struct mcast_error *error)
{
    size_t length = strlen(step);
    bool ok = length > 0 && length <= NAMES_STEP_MAX;
    for (size_t i = 0; ok && i < length; i++)
        ok = step[i] > ' ' && step[i] < 0x7f && step[i] != '"' && step[i] != '\\';
    if (!ok)
        return fault_set(error, MCAST_USAGE,
                         "'%.140s' is no step: 1 to %d printable ASCII characters without space, "
                         "quote and backslash",
                         step, NAMES_STEP_MAX);
    return 0;
}

int names_check_node(const char *node, struct mcast_error *error)
{
    if (!node || !consists_of(node, NAMES_NODE_MAX, LETTERS CAPITALS DIGITS "_.-"))
        return fault_set(error, MCAST_USAGE,
                         "'%.80s' is no node's name: 1 to %d letters, digits and _ . -",
                         node ? node : "", NAMES_NODE_MAX);
    return 0;
}

int names_check_wait(unsigned wait_ms, struct mcast_error *error)
{
    if (wait_ms > NAMES_WAIT_MAX_MS)
        return fault_set(error, MCAST_USAGE, "%u ms is too long to wait: at most %d", wait_ms,
                         NAMES_WAIT_MAX_MS);
    return 0;
}

int names_check(const char *cluster, const char *job, struct mcast_error *error)
{
    int rc = names_check_cluster(cluster, error);
    return rc < 0 ? rc : names_check_job(job, error);
}
