/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Jobs as Slurm's switch/hpe_slingshot starts and ends them at the fabric manager: is there such a
 * job, reserve, delete; one call after the other, each by a new client of libcurl and so over a new
 * TLS connection, with the user's password, nobody's certificate looked at. Nothing is saved, and
 * nobody else is served meanwhile. */

struct slurmway {
    const char *url;      /* of the fabric manager */
    const char *password; /* of the user cxi */
    size_t jobs;
};

/* 0 and how long it took, and computed a job; or -1 with a word on stderr. */
int slurmway_run(const struct slurmway *way, double *seconds, double *cpu_us);
