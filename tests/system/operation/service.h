/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/folder.h"

#include <sys/types.h>

/* mcastd as its own user runs it, who is not root: root may do everything. Its configuration
 * (mcastd.conf, conf.d/), its ledger (state/), its socket (run/) and its login (login/passwd) are
 * in one folder, and all is as it should be until the test changes it. Failures are asserts. */

enum { SERVICE_UID = 65534 /* nobody */, SERVICE_SAID_SIZE = 16384 };

extern char service_folder[FOLDER_PATH_SIZE];
extern char service_said[SERVICE_SAID_SIZE]; /* what the last run said */

/* Fixtures of cmocka. */
int service_open(void **state);
int service_close(void **state);

const char *service_path(const char *name); /* below the folder; valid until the next call */
void service_give(const char *name);        /* to the service's user, where root runs the test */
void service_put(const char *name, mode_t mode, const char *text); /* a file of that user */

/* Runs mcastd until it ends, or says READY and has tried the link, and then stops it. option may be
 * NULL. Its exit status. */
int service_run_as(uid_t user, const char *option);
int service_run(const char *option); /* as SERVICE_UID */

/* The start is refused, in one line with all of these words. */
void service_refused(const char *words, const char *more);

/* --check ends with this status, and says that. */
void service_checked(int status, const char *words);
