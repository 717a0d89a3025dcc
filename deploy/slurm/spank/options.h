/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The words of --mcast=…, and of --comment=mcast:…: what a Slurm job asks of mcastd (F2, F12, F14).
 *
 *   vnis=N                         0 to 4
 *   shared=A:B                     names of at most 3 shared VNIs, beside them
 *   hwcoll=auto|on|off|required
 *   tc=A:B                         best_effort, low_latency, bulk_data, dedicated_access
 *   vni=K                          of a step: the K-th of the job's VNIs alone, 1 to 4
 *   single-node=on|off             VNIs although, or not if, the job has one node only
 *   profile=NAME                   what none of these says is as the site's profile has it
 *   def_R=N, res_R=N, max_R=N      of txqs, tgqs, eqs, cts, tles, ptes, les, acs: for
 *                                  `mcast-node prolog --limits`
 *
 * Commas between them, no blanks, each word once. */

#include "base/error.h"

#include <stdbool.h>

enum { OPTIONS_TEXT_MAX = 512 };

enum options_hwcoll {
    OPTIONS_HWCOLL_UNSAID,
    OPTIONS_HWCOLL_AUTO,
    OPTIONS_HWCOLL_ON,
    OPTIONS_HWCOLL_OFF,
    OPTIONS_HWCOLL_REQUIRED
};

struct options {
    enum options_hwcoll hwcoll;
    unsigned vni; /* 0: all of the job's */
    bool of_job;  /* has words that only the job as a whole can ask for: all but hwcoll and vni */
};

/* ERROR_INVALID with a sentence that names the word and what is allowed. */
int options_read(struct options *options, const char *text, struct error *err);

/* Whether the words of a step that are its job's are among those of the job, word by word: then
 * they change nothing. job may be NULL: it said nothing. */
bool options_step_fits(const char *step, const char *job);
