/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A broker's configuration on this machine. */

#include "cli/doctor/findings.h"

#define LOCALFILES_CONFIG "/etc/mcastd/mcastd.conf"

enum { LOCALFILES_PATH_MAX = 1024 };

/* Has mcastd check the configuration and all files that it names: what others can read or change.
 * path: of the configuration; NULL: LOCALFILES_CONFIG, which need not be there, for a node has
 * none. munge_socket receives what [broker] munge_socket says, "" when it says nothing. */
void localfiles_judge(struct findings *findings, const char *path,
                      char munge_socket[LOCALFILES_PATH_MAX]);
