/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* The job in which mcastctl runs, by its environment. */

enum { OWNJOB_URL_SIZE = 600 };

/* NULL: it is not set, or empty. */
const char *ownjob_variable(const char *name);

/* Before command_open: a relayed job knows the broker as its fabric manager, and by no other
 * address if the site gives none: then it is asked there, for what it answers to jobs about
 * themselves. */
void ownjob_find_broker(struct call *call, char url[static OWNJOB_URL_SIZE]);

/* After it: gives the handle the job's token. 0, or a negative code. *has: there is one. */
int ownjob_find_token(struct call *call, bool *has);
