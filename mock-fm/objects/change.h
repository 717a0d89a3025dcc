/* SPDX-License-Identifier: Apache-2.0 */
/* One change of the objects, as it is decided, written to the journal and applied. */
#ifndef MCAST_MOCK_FM_OBJECTS_CHANGE_H
#define MCAST_MOCK_FM_OBJECTS_CHANGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum change_kind {
    CHANGE_MARK,      /* counters that outlive the objects: serial, next_mcast_id */
    CHANGE_RESET,     /* everything is gone, the counters at their beginning */
    CHANGE_JOB,       /* a reservation: job, token, limit, serial, version */
    CHANGE_JOB_GONE,  /* a reservation and its trees are gone: job */
    CHANGE_STEP_GONE, /* the trees of one step are gone: job, step */
    CHANGE_TREE,      /* a tree: mcast_id, job, step, root, vni, timeout_us, macs */
    CHANGE_TREE_GONE, /* one tree is gone: mcast_id */
};

/* Only the fields named at the kind count. Strings and macs are borrowed. */
struct change {
    enum change_kind kind;
    int64_t at_us; /* when, in microseconds since 1970 */
    const char *job;
    const char *step;
    const char *token;
    unsigned limit;
    uint64_t serial;
    uint64_t version;
    unsigned mcast_id;
    unsigned next_mcast_id;
    uint32_t root;
    unsigned vni;
    int64_t timeout_us;
    const uint32_t *macs;
    size_t mac_count;
};

/* A change read back, with what it borrows from. */
struct change_read {
    struct change change;
    json_t *line;
    uint32_t *macs;
};

/* One line of JSON with a newline at its end, or NULL without memory; the caller frees it. */
char *change_encode(const struct change *change);

/* Reads one such line (of `length` bytes, newline or not). 0, or -1 when it is no change;
 * release after success only. */
int change_decode(const char *line, size_t length, struct change_read *read);
void change_release(struct change_read *read);

#endif
