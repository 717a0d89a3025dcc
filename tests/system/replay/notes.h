/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the broker acknowledged, written down by the one who heard it, and compared with everything
 * that it says later (B6; invariants I1, I2, I7 of the safety goals). A fault is printed and
 * counted. */

enum notes_life {
    NOTES_UNBORN,
    NOTES_ASKED,     /* a reserve was sent, no answer yet */
    NOTES_LIVE,      /* reserved, by the answer */
    NOTES_RELEASING, /* a release was sent, no answer yet: it may be live or gone */
    NOTES_RELEASED,  /* released, by the answer */
};

enum { NOTES_VNIS_MAX = 4, NOTES_STATE_SIZE = 16, NOTES_SECRET_SIZE = 160 };

struct note {
    enum notes_life life;
    uint64_t number;
    unsigned vni_count;
    uint16_t vnis[NOTES_VNIS_MAX];
    char hwcoll[NOTES_STATE_SIZE]; /* hwcoll.state of the answer */
    char token[NOTES_SECRET_SIZE]; /* FI_CXI_COLL_MCAST_TOKEN; "" when there is none */
};

struct notes {
    struct note *jobs; /* by the log's index */
    size_t job_count;
    uint32_t owners[65536]; /* of a VNI: index + 1 of the live job, or 0 */
    uint64_t highest;       /* number acknowledged so far */
    uint64_t floor; /* numbers given to new jobs must be above it: those from before a kill */
    size_t live, live_max, released;
    size_t holding, holding_max; /* of those that live, with multicast addresses */
    /* What became of the multicast addresses. */
    size_t reserved, denied, timeout, unavailable, ineligible;
    size_t repeated; /* answers to repeated requests */
    size_t faults;
};

struct notes *notes_create(size_t jobs); /* NULL: out of memory */
void notes_destroy(struct notes *notes);

/* A reserve was answered 200 or 201. fresh: the job was first asked for after the last kill. */
void notes_reserved(struct notes *notes, uint32_t job, const json_t *answer, bool fresh);
/* A release is about to be sent for the first time: the VNIs may be given to others from now on. */
void notes_releasing(struct notes *notes, uint32_t job);
void notes_released(struct notes *notes, uint32_t job);

/* What GET says of a live job must be what was acknowledged. status, answer: of that GET. */
void notes_compare(struct notes *notes, uint32_t job, int status, const json_t *answer);
/* What GET says of a released job: anything but that it is active. */
void notes_compare_released(struct notes *notes, uint32_t job, int status, const json_t *answer);

/* At the end: every job was released, and no number was given twice. */
void notes_conclude(struct notes *notes);

__attribute__((format(printf, 2, 3))) void notes_fault(struct notes *notes, const char *format,
                                                       ...);
