/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A real Slurm on this host: slurmctld, CLUSTER_NODES slurmd, and a munged with a key of its own,
 * on loopback, all in one folder. Asserts (cmocka's) that what it starts comes up; what programs
 * say is in the folder's log/.
 *
 * It is the Slurm that is installed, in /usr; with MCAST_SLURM_PREFIX in the environment, one that
 * was built by hand and installed there (CONTRIBUTING.md). */

enum { CLUSTER_NODES = 4, CLUSTER_TEXT_SIZE = 16384 };

struct cluster;

/* folder: where it lives, the caller's. hooks: lines of slurm.conf that name them, or "". */
struct cluster *cluster_create(const char *folder, const char *hooks);
/* Ends all, in the order that leaves nothing behind: jobs, slurmd, slurmctld, munged. NULL is
 * allowed. */
void cluster_destroy(struct cluster *cluster);

/* For the next cluster: the address that its MUNGE credentials say they are from, NULL: this
 * host's; and its SlurmUser, NULL: the caller. */
extern const char *cluster_munge_origin, *cluster_user;

/* The first of CLUSTER_PORTS ports that are free: slurmctld's, the nodes', and two that are left.
 */
enum { CLUSTER_PORTS = CLUSTER_NODES + 3 };
int cluster_find_ports(void);

/* The folder where it is installed; and its release, year and month: 2205. */
const char *cluster_prefix(void);
int cluster_release(void);

/* Rewrites these lines of slurm.conf, for the next start or `scontrol reconfigure`. */
void cluster_set_hooks(struct cluster *cluster, const char *hooks);

/* Until all nodes are idle. */
void cluster_await_idle(struct cluster *cluster);

/* kill -9, and the scripts that it runs with it; start: until it answers. */
void cluster_kill_controller(struct cluster *cluster);
void cluster_start_controller(struct cluster *cluster);
/* Nodes are n1 to n4. Killed: slurmd and what it had started there, as a power cut does. */
void cluster_kill_node(struct cluster *cluster, int node);
void cluster_start_node(struct cluster *cluster, int node);

/* Runs a shell command with the cluster's SLURM_CONF; what it prints (standard error too) is in
 * cluster_text until the next one. Returns its exit status. */
__attribute__((format(printf, 2, 3))) int cluster_run(struct cluster *cluster, const char *command,
                                                      ...);
/* The same; fails the test, with what it said, when that is not 0. */
__attribute__((format(printf, 2, 3))) void cluster_expect(struct cluster *cluster,
                                                          const char *command, ...);
const char *cluster_text(const struct cluster *cluster);

/* Waits until the command's exit status is 0; fails the test, with what it said last, when it never
 * is. */
__attribute__((format(printf, 2, 3))) void cluster_await(struct cluster *cluster,
                                                         const char *command, ...);

/* Submits a batch job and returns its id: options and "--wrap 'script'" as sbatch takes them. */
__attribute__((format(printf, 2, 3))) unsigned int cluster_submit(struct cluster *cluster,
                                                                  const char *options, ...);
/* Waits until squeue knows no job any more that is not over. */
void cluster_await_empty(struct cluster *cluster);
