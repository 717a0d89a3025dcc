/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The HTTP server of `mcastctl ui`, on 127.0.0.1. */

#include "cli/command.h"

/* Serves until SIGINT, SIGTERM or SIGHUP, which the caller has blocked. port: 0: any. write: its
 * page may release reservations. 0, or a code with call->error. */
int server_run(struct call *call, uint16_t port, bool write);
