/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Small jobs that start and end, a hundred a second, in a process of their own: what a resource
 * manager asks for while something else keeps the broker busy (G22). */

struct smalljobs;

/* Returns after quiet_ms of them. socket: the broker's. NULL with a word on stderr. */
struct smalljobs *smalljobs_start(const char *socket, unsigned quiet_ms);

/* Ends them: how long a reserve took, in microseconds. quiet: the median until smalljobs_start
 * returned; median, p99: since then. 0, or -1 with a word on stderr. */
int smalljobs_end(struct smalljobs *jobs, double *quiet_us, double *median_us, double *p99_us);
