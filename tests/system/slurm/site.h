/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/etcdcluster.h"
#include "tests/system/rig/testbed.h"
#include "tests/system/slurm/cluster.h"

/* A site: a real Slurm, a real broker with the fabric manager's double, NICs of mock-cxi in every
 * node, and the hooks of deploy/slurm as a site installs them. Fails the test where something does
 * not come up.
 *
 * Each hook can be stopped in the middle: while a file hold/HOOK.before or hold/HOOK.after exists
 * in the folder, it waits before or after its work; reached/HOOK.before.JOB tells that it does
 * (with .NODE for those of nodes).
 *
 * Commands (cluster.h) and jobs find in their environment SITE, its folder; AS_USER, the options of
 * site->as_user; AS, what other commands than sbatch stand behind to be that user's; and MCASTCTL,
 * with which its broker is asked. */

struct site {
    struct testbed *testbed;
    struct cluster *cluster;
    char folder[64];
    unsigned int uid;       /* whose jobs most are: nobody's, or the caller's */
    char as_user[32];       /* "--uid=65534" for sbatch, or "" */
    struct process *second; /* of two brokers: see site_start_second */
    struct etcdcluster *etcd;
    size_t looked; /* how often a VNI's users could be compared (overlap.h) */
};

/* For cmocka's group setup and teardown. The site is of VNIs 2000-2011, one a job; jobs of two
 * nodes or more are given multicast addresses. */
int site_create(void **state);
int site_create_large(void **state);     /* of VNIs 2000-4999, its hooks cannot be held */
int site_create_launching(void **state); /* as site_create, with [vni] hold = reports: the others
                                            have no launch documents */
int site_create_launching_large(void **state);
int site_create_documented_large(void **state); /* the same; its hooks ask by TCP, TLS and MUNGE,
                                                   from 192.0.2.1, and that is what the names of
                                                   its nodes have to be */
/* As site_create_launching_large, with two brokers and a ledger in etcd (B7), of which hooks know
 * both; that of the testbed leads. */
int site_create_two_brokers(void **state);
int site_destroy(void **state);

/* What a scene must leave: nothing anywhere. Waits until no job is left, no reservation is in the
 * broker, none at the fabric manager, no service on any NIC and no file of a job on any node; then
 * checks that no VNI was reserved for a job while another one's service had it (I1), since the
 * site was created. */
void site_expect_nothing_left(struct site *site);

/* Nodes report nothing of a job that ended before they heard of it, or that slurmctld forgot; and a
 * reservation that was granted twice is quarantined for its time, also when they report. Waits
 * until that is all that is waited for, with no service left anywhere, and lets the time pass: the
 * broker is restarted with a short [vni] hold, and then again as it was. */
void site_end_holding(struct site *site);

/* Until it has its link to the fabric manager. */
void site_start_broker(struct site *site);
void site_stop_broker(struct site *site);
/* The second broker: starts it, until it knows that the other one leads. */
void site_start_second(struct site *site);

/* Lets one hook wait, or go on. where: "before" or "after". */
void site_hold(struct site *site, const char *hook, const char *where);
void site_let_go(struct site *site, const char *hook, const char *where);
/* Waits until it does. node: "n1", or NULL for the controller's hooks. */
void site_await_held(struct site *site, const char *hook, const char *where, unsigned int job,
                     const char *node);

/* Waits until the job is in this state, as squeue -o %T calls it. */
void site_await_state(struct site *site, unsigned int job, const char *state);
/* Of a job's standard output: until this text is in it. */
void site_await_output(struct site *site, unsigned int job, const char *text);
/* The value of a line NAME=value of a job's output; fails when it is not there. Valid until the
 * next command. which: 0 for the first such line. */
const char *site_output_value(struct site *site, unsigned int job, const char *name, int which);

/* Writes cxi.conf of a node: lines after "[mock]". */
void site_set_nics(struct site *site, int node, const char *text);
/* Lines of slurm.conf that name the hooks of this folder, such as site->folder's "slurm". */
void site_hook_lines(const struct site *site, const char *controllers, const char *nodes, char *out,
                     size_t size);
/* Further lines of the hooks' settings (slurm-hooks). */
void site_set_settings(struct site *site, const char *lines);
/* plugstack.conf with mcast_spank.so. words: further ones; the last one of a key counts. */
void site_use_plugin(struct site *site, const char *plugin, const char *words);
