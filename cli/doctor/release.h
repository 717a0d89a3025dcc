/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLI_DOCTOR_RELEASE_H
#define MCAST_CLI_DOCTOR_RELEASE_H

/* Numbers of releases ("24.11.5", "2.6.0rc1"), and what is known of the releases of those programs
 * that meet mcastd's work on a node. */

#include "cli/doctor/findings.h"

enum { RELEASE_PARTS = 4 };

struct release {
    unsigned part[RELEASE_PARTS]; /* missing ones are 0 */
};

/* The first number with a dot in it that stands in text. False: there is none. */
bool release_find(const char *text, struct release *out);

/* Below 0, 0, above 0. */
int release_compare(const struct release *a, const struct release *b);

/* Adds what is known to be bad of this release of name ("libfabric", "slurm", "flux-core",
 * "flux-coral2", "libcxi"), or that nothing is. where: how it was found. */
void release_judge(struct findings *findings, const char *name, const struct release *release,
                   const char *where);

#endif
