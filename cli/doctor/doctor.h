/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What `mcastctl doctor` and `mcastctl check slurm` look at; each adds its findings. */

#include "cli/doctor/findings.h"

/* ---- a broker's configuration on this machine: localfiles.c ---- */

#define LOCALFILES_CONFIG "/etc/mcastd/mcastd.conf"
#define LOCALFILES_NODE_CONFIG "/etc/mcastd/node.conf"

enum { LOCALFILES_PATH_MAX = 1024 };

/* Has mcastd check the configuration and all files that it names: what others can read or change.
 * path: of the configuration; NULL: LOCALFILES_CONFIG, if root asks, who can check it as
 * mcastd's user; it need not be there, for a node has none. munge_socket receives what [broker]
 * munge_socket says, "" when it says nothing. */
void localfiles_judge(struct findings *findings, const char *path,
                      char munge_socket[LOCALFILES_PATH_MAX]);

/* Whether the broker of this host, whose status it is, has read what stands there now. path: as
 * above. */
void localfiles_judge_age(struct findings *findings, const char *path, const json_t *status);

/* Each value of a configuration: from the file, and then from conf.d beside it, as mcastd reads
 * them. store is ini_parse's. */
void localfiles_read(const char *path,
                     int (*store)(void *data, const char *section, const char *name,
                                  const char *value),
                     void *data);

/* Has mcast-node check its own. path NULL: the usual one, if it is there and root asks. */
void localfiles_judge_node(struct findings *findings, const char *path);

/* ---- the members of etcd that keep its ledger: etcdmembers.c ---- */

/* Asks those that the configuration names, with libexec/mcastd/etcd/check; nothing when it names
 * none. path: as above; its certificates are for root and mcastd's user to read. */
void etcdmembers_judge(struct findings *findings, const char *path);

/* ---- installed software: software.c ---- */

/* Finds out which releases of what takes part in hardware collectives are installed (libfabric,
 * libcxi, Slurm, Flux), and judges each. What is not installed is not mentioned, unless nothing is.
 */
void software_judge(struct findings *findings);

/* Whether Slurm's own plugin for Slingshot lies in a folder of PluginDir. config: what `scontrol
 * show config` prints; NULL, or without PluginDir: in one of the usual folders. */
bool software_has_slingshot_plugin(const char *config);

/* ---- releases and their known faults: release.c ---- */

/* Numbers of releases ("24.11.5", "2.6.0rc1"), and the known faults of programs that meet mcastd's
 * work on a node: cli/text/faults.json. There stands only what the publisher's own history says, or
 * what can be read in the published source at the releases named in "source"; nothing by hearsay.
 * A fault is in the releases from "from" up to, and without, "fixed"; without "fixed" it is in the
 * newest that was looked at. Builds of a vendor under the same numbers can differ. */

enum { RELEASE_PARTS = 4 };

struct release {
    unsigned part[RELEASE_PARTS]; /* missing ones are 0 */
};

/* The first number with a dot in it that stands in text. False: there is none. */
bool release_find(const char *text, struct release *out);

/* Below 0, 0, above 0. */
int release_compare(const struct release *a, const struct release *b);

/* Adds the known faults of this release of name ("libfabric", "slurm", "flux-core", "flux-coral2",
 * "libcxi"), or that there are none. where: how it was found. */
void release_judge(struct findings *findings, const char *name, const struct release *release,
                   const char *where);

/* ---- the broker of this host's Slurm: manager.c ---- */

/* Whether it knows the cluster, and takes the caller for its resource manager. facts: what
 * libexec/mcastd/slurm/check found out, texts: cluster (as mcastd calls it), hooks (the folder of
 * mcastd's hooks), user (SlurmUser, "slurm(64030)"; "": not known), controller and node (what runs
 * on this host, else ""), nodes (Slurm's, "n[1-4],m1"; "": not known), manager (not "": the broker
 * has been asked as SlurmUser). whoami, status: the broker's answers; NULL: none. */
void manager_judge(struct findings *findings, const json_t *facts, const json_t *whoami,
                   const json_t *status);

/* ---- a Slurm that keeps its own plugin: plugin.c ---- */

/* Whether what it is told (SwitchParameters) and what the broker says (/v1/status) fit together
 * (B9): the address, the login, the numbers of addresses, VNIs. cluster: ClusterName. */
void plugin_judge(struct findings *findings, const char *cluster, const char *parameters,
                  const json_t *status);

/* The same, of what `scontrol show config` prints; nothing for another Slurm. */
void plugin_judge_shown(struct findings *findings, const char *config, const json_t *status);
