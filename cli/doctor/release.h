/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Numbers of releases ("24.11.5", "2.6.0rc1"), and the known faults of programs that meet mcastd's
 * work on a node: cli/text/faults.json. There stands only what the publisher's own history says, or
 * what can be read in the published source at the releases named in "source"; nothing by hearsay.
 * A fault is in the releases from "from" up to, and without, "fixed"; without "fixed" it is in the
 * newest that was looked at. Builds of a vendor under the same numbers can differ. */

#include "cli/doctor/findings.h"

enum { RELEASE_PARTS = 4 };

struct release {
    unsigned part[RELEASE_PARTS]; /* missing ones are 0 */
};

/* The first number with a dot in it that stands in text. False: there is none. */
bool release_find(const char *text, struct release *out);

/* Below 0, 0, above 0. */
int release_compare(const struct release *a, const struct release *b);

/* Adds the known faults of this release of name ("libfabric", "slurm", "flux-core", "flux-coral2",
 * "libcxi"), or that there are none. where: how it was found. */
void release_judge(struct findings *findings, const char *name, const struct release *release,
                   const char *where);
