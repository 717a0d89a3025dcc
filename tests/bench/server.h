/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"

/* Another program that answers HTTP on a Unix socket, to compare the broker with, in a folder of
 * its own. */

struct server {
    char folder[FOLDER_PATH_SIZE], socket[128];
    struct process *process;
};

/* The folder, and the path that its socket shall have. 0, or -1. */
int server_prepare(struct server *server, const char *socket_name);
/* Runs it until something is answered. 0, or -1 with the end of its log on stderr. */
int server_start(struct server *server, const char *const argv[]);
/* Kills it and deletes the folder; of one that is zeroed, nothing. */
void server_stop(struct server *server);
