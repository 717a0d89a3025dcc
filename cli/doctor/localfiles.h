/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The files of a broker on this machine: its configuration, and those that the configuration
 * names. */

#include "cli/doctor/findings.h"

#define LOCALFILES_CONFIG "/etc/mcastd/mcastd.conf"

enum { LOCALFILES_PATH_MAX = 1024 };

/* Has mcastd check the configuration, which names each file and folder that others can change, and
 * looks itself whether secrets are their owner's alone. path: of the configuration; NULL:
 * LOCALFILES_CONFIG, which need not be there, for a node has none. munge_socket receives what
 * [broker] munge_socket says, "" when it says nothing. */
void localfiles_judge(struct findings *findings, const char *path,
                      char munge_socket[LOCALFILES_PATH_MAX]);
