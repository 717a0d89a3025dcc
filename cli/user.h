/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* Names of users. Each is looked up once: a directory on the network may take long for one, and a
 * list has 100,000. */

enum { USER_SIZE = 64 };

/* The name, or the number where there is none; "-" for UINT32_MAX. Valid until the next call. */
const char *user_name(uint32_t uid);

/* Of a name or a number. False: there is no such user. */
bool user_find(const char *text, uint32_t *uid);

/* The same of an option; *uid stays when it was not given. 0, or MCAST_USAGE after a message. */
int user_option(struct call *call, size_t option, uint32_t *uid);
