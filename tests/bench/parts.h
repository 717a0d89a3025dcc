/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/report.h"

#include <stdbool.h>
#include <stddef.h>

/* The parts of the benchmark, each of which can be run by itself. Programs that are compared take
 * turns in one run; a new broker with an empty ledger for each turn, unless a turn needs one that
 * is full. */

struct bench {
    const char *programs;                     /* the folder of ours */
    const char *mcastd, *fm, *mock_fm, *echo; /* programs; mock_fm: for faults */
    const char *counter;                      /* the library that counts allocations, */
    const char *names;                        /* and the one that resolves nodes' names */
    const char *valgrind, *etcd, *nginx;      /* NULL: what needs it is left out, with a word */
    size_t repetitions;                       /* at most SAMPLE_MAX */
    size_t warm_up;                           /* requests before any that are timed */
    size_t requests;                          /* reserves in one turn at 64 connections */
    size_t jobs;                              /* from start to end */
    size_t slurm_jobs;                        /* the same, the Slurm plugin's way */
    size_t released;                          /* at once, */
    unsigned slow_ms;                         /* while a call takes that long */
    size_t nodes;                             /* of the job whose nodes report */
    size_t arrivals;                          /* nodes that come over TLS, */
    unsigned connections_max;                 /* and what the broker takes then; 0: its default */
    size_t subscribers;
    size_t followed; /* reservations that the next leader takes over */
    size_t site;     /* reservations with all they can have */
    size_t live;     /* reservations at most, 1,000 at least */
    size_t counted;  /* requests that are counted instruction by instruction */
    struct report *report;
};

/* Each returns 0, or -1 with a word on stderr: something did not work. */
int part_reserves(const struct bench *bench);  /* G1–G5 */
int part_jobs(const struct bench *bench);      /* G8, eligible requests */
int part_slurm(const struct bench *bench);     /* G9, G27 */
int part_slow(const struct bench *bench);      /* G10 */
int part_launch(const struct bench *bench);    /* G20, G21 */
int part_run(const struct bench *bench);       /* G28 */
int part_relay(const struct bench *bench);     /* G25 */
int part_site(const struct bench *bench);      /* G29 */
int part_reports(const struct bench *bench);   /* G13, G14 */
int part_crowd(const struct bench *bench);     /* G15, G22, G23 */
int part_scale(const struct bench *bench);     /* G6, G7, G12 */
int part_ha(const struct bench *bench);        /* G16–G19, C15 */
int part_storms(const struct bench *bench);    /* C2–C5 */
int part_inventory(const struct bench *bench); /* P1 */
int part_cost(const struct bench *bench);      /* instructions and allocations */
int part_field(const struct bench *bench);     /* etcd, nginx */
