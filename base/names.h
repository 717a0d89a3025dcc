/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The names by which jobs are known, here and at the fabric manager (B4). */

enum {
    CLUSTER_NAME_MAX = 32, /* bytes, without the NUL */
    PROFILE_NAME_MAX = CLUSTER_NAME_MAX,
    JOB_ID_MAX = 128,
    FM_NAME_MAX = CLUSTER_NAME_MAX + 1 + JOB_ID_MAX,
    STEP_ID_MAX = 512,
    NODES_TEXT_MAX = 65536,
    TOKEN_MAX = 4096,
};

/* [A-Za-z0-9._-], of which names of nodes are; and [A-Za-z0-9._:@+-], of which job ids are. */
bool node_char(char c);
bool job_char(char c);

/* [a-z0-9_]{1,32}: without '-', so that "<cluster>-<job>" splits in one way only and no cluster's
 * names can be taken for another's (B4). */
bool cluster_name_valid(const char *name);

/* As a cluster's: it is a word in a resource manager's options. */
static inline bool profile_name_valid(const char *name)
{
    return cluster_name_valid(name);
}

/* 1–128 of [A-Za-z0-9._:@+-], but neither "." nor "..". */
bool job_id_valid(const char *job);

/* 1–512 printable bytes without space, quote, backslash: libfabric puts it into JSON unescaped
 * (docs/fabric-manager.md). */
bool step_id_valid(const char *step);

/* FNV-1a, for tables: of one more text; begins with HASH_BEGIN. */
#define HASH_BEGIN UINT64_C(14695981039346656037)
uint64_t hash_text(uint64_t hash, const char *text);

/* Of a cluster and a job together. */
uint32_t name_hash(const char *cluster, const char *job);

/* Writes "<cluster>-<job>", the jobID of a reservation at the fabric manager. */
void fm_name_format(char out[static FM_NAME_MAX + 1], const char *cluster, const char *job);

/* Splits a name that the fabric manager listed. False when it cannot be one of ours: no '-', or a
 * part that is not a valid cluster name or job id. cluster receives the text before the first '-';
 * *job points into name. */
bool fm_name_split(const char *name, char cluster[static CLUSTER_NAME_MAX + 1], const char **job);
