/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <string.h>

static bool cluster_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool node_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool job_char(char c)
{
    return node_char(c) || c == ':' || c == '@' || c == '+';
}

static bool every(const char *text, size_t max, bool (*allowed)(char))
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        if (length == max || !allowed(text[length]))
            return false;
    }
    return length > 0;
}

bool cluster_name_valid(const char *name)
{
    return every(name, CLUSTER_NAME_MAX, cluster_char);
}

bool job_id_valid(const char *job)
{
    /* As the last segment of a URL both mean another path, for clients and for gateways. */
    return every(job, JOB_ID_MAX, job_char) && strcmp(job, ".") != 0 && strcmp(job, "..") != 0;
}

static bool step_char(char c)
{
    return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '\'';
}

bool step_id_valid(const char *step)
{
    return every(step, STEP_ID_MAX, step_char);
}

uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

uint32_t name_hash(const char *cluster, const char *job)
{
    uint64_t hash = hash_text(HASH_BEGIN, cluster);
    hash *= UINT64_C(1099511628211); /* the end of the cluster counts, too */
    hash = hash_text(hash, job);
    return (uint32_t)(hash ^ hash >> 32);
}

void fm_name_format(char out[static FM_NAME_MAX + 1], const char *cluster, const char *job)
{
    size_t cluster_length = strnlen(cluster, CLUSTER_NAME_MAX);
    size_t job_length = strnlen(job, JOB_ID_MAX);
    memcpy(out, cluster, cluster_length);
    out[cluster_length] = '-';
    memcpy(out + cluster_length + 1, job, job_length);
    out[cluster_length + 1 + job_length] = '\0';
}

bool fm_name_split(const char *name, char cluster[static CLUSTER_NAME_MAX + 1], const char **job)
{
    const char *dash = strchr(name, '-');
    if (!dash || dash - name > CLUSTER_NAME_MAX)
        return false;
    size_t length = (size_t)(dash - name);
    memcpy(cluster, name, length);
    cluster[length] = '\0';
    *job = dash + 1;
    return cluster_name_valid(cluster) && job_id_valid(*job);
}
