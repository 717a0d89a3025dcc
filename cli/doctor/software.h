/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The software of this machine that takes part in hardware collectives: libfabric, libcxi, Slurm,
 * Flux. */

#include "cli/doctor/findings.h"

/* Whether Slurm's own plugin for Slingshot lies in a folder of PluginDir. config: what `scontrol
 * show config` prints; NULL, or without PluginDir: in one of the usual folders. */
bool software_has_slingshot_plugin(const char *config);

/* Finds out which releases are installed, and judges each (release.h). What is not installed is not
 * mentioned, unless nothing is. */
void software_judge(struct findings *findings);
