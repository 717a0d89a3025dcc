/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a job was granted on this node, as variables for its tasks (F8, F16): NAME=value, each ended
 * by a NUL byte, as `mcastctl env --format null` and `mcast-node env --format null` print it. What
 * is not named the job does not have. Of other names nothing is taken: whoever wrote it sets no
 * LD_PRELOAD. */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FI_CXI_*: the same on every node, with the job's token. SLINGSHOT_*: this node's services. Then
 * those of a job on Omni-Path, the same on every node: its keys, and settings that its user may
 * have chosen, too, so they are never unset. Last, and for no task: how the broker is asked. */
#define GRANT_NAMES(X)                                                                             \
    X(MIN_NODES, "FI_CXI_HWCOLL_MIN_NODES")                                                        \
    X(ADDRESSES, "FI_CXI_HWCOLL_ADDRS_PER_JOB")                                                    \
    X(JOB, "FI_CXI_COLL_JOB_ID")                                                                   \
    X(TOKEN, "FI_CXI_COLL_MCAST_TOKEN")                                                            \
    X(URL, "FI_CXI_COLL_FABRIC_MGR_URL")                                                           \
    X(CACERT, "FI_CXI_COLL_FABRIC_MGR_CACERT")                                                     \
    X(STEP, "FI_CXI_COLL_JOB_STEP_ID")                                                             \
    X(VNIS, "SLINGSHOT_VNIS")                                                                      \
    X(DEVICES, "SLINGSHOT_DEVICES")                                                                \
    X(SVC_IDS, "SLINGSHOT_SVC_IDS")                                                                \
    X(TCS, "SLINGSHOT_TCS")                                                                        \
    X(OPX_UUID, "FI_OPX_UUID")                                                                     \
    X(PSM3_UUID, "FI_PSM3_UUID")                                                                   \
    X(OPX_PKEY, "FI_OPX_PKEY")                                                                     \
    X(PSM3_PKEY, "PSM3_PKEY")                                                                      \
    X(OPX_SL, "FI_OPX_SL")                                                                         \
    X(OPX_HFI, "FI_OPX_HFI_SELECT")                                                                \
    X(PSM3_NIC, "PSM3_NIC")                                                                        \
    X(OPX_SHARING, "FI_OPX_CONTEXT_SHARING")                                                       \
    X(OPX_ENDPOINTS, "FI_OPX_ENDPOINTS_PER_HFI_CONTEXT")                                           \
    X(BROKER, "MCAST_URL")                                                                         \
    X(BROKER_CA, "MCAST_CACERT")                                                                   \
    X(BROKER_USER, "MCAST_SERVER_USER")

enum grant_name {
#define GRANT_ENUM_(name, text) GRANT_##name,
    GRANT_NAMES(GRANT_ENUM_) GRANT_COUNT
#undef GRANT_ENUM_
};

enum {
    GRANT_FIRST_OF_NODE = GRANT_VNIS,
    GRANT_FIRST_KEY = GRANT_OPX_UUID,
    GRANT_FIRST_SETTING = GRANT_OPX_SL,
    GRANT_FIRST_OF_BROKER = GRANT_BROKER,
    GRANT_SIZE = 16384
};

extern const char *const grant_names[GRANT_COUNT];

struct grant {
    const char *values[GRANT_COUNT]; /* into text; NULL: the job does not have it */
    size_t length;                   /* of what has been taken */
    char text[GRANT_SIZE];           /* has the job's token, or key */
};

/* Which enum grant_name it is, or -1. */
int grant_find(const char *name, size_t length);

/* Takes what was written into text behind that which was taken before, length bytes; of a name that
 * comes twice, the last. ERROR_INVALID: it is not whole, or is no such list; nothing is taken. */
int grant_take(struct grant *grant, size_t length, struct error *err);

/* Fills it with what the file holds, which must be a regular one of root's or this user's that
 * no other user can write. ERROR_NOT_FOUND: there is none; ERROR_REFUSED: not one to be trusted;
 * ERROR_IO, ERROR_INVALID. */
int grant_load(struct grant *grant, const char *path);

/* Whether tasks can use hardware collectives with it. */
bool grant_has_hwcoll(const struct grant *grant);

/* Leaves it the VNI number which, from 1, of those that the job has, and no other. How many there
 * were; fewer than which: nothing is changed. */
unsigned grant_choose_vni(struct grant *grant, unsigned which);

/* Wipes it. */
void grant_forget(struct grant *grant);

/* Whether a value of FI_CXI_COLL_JOB_ID, "<cluster>-<job>", is that of this job. cluster "": of
 * whichever. */
bool grant_is_of(const char *value, const char *cluster, uint32_t job);

/* A step's name among those of its job: its number, or the name that Slurm gave one of the last. */
enum { GRANT_STEP_SIZE = 16 };
const char *grant_step(uint32_t step, char out[GRANT_STEP_SIZE]);
