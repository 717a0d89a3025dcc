/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/config/table.h"

#include <limits.h>

/* Reads one configuration file after the other into a configuration, and remembers where each value
 * came from, so that faults found later are reported with file and line, too. */

enum { CONFIG_FILES_MAX = 256 };

struct config_origin {
    unsigned file; /* 1 is files[0]; 0: not set, the default */
    unsigned line;
};

struct config_reading {
    struct config *config;
    config_report_fn *report;
    void *arg;
    unsigned faults;
    char *files[CONFIG_FILES_MAX];
    unsigned file_count;
    /* By row of the table: first those of plain sections, then those of each cluster and profile.
     */
    struct config_origin origins[1 + CLUSTERS_MAX + PROFILES_MAX][CONFIG_KEYS_MAX];
    struct config_origin sections[CLUSTERS_MAX]; /* where the cluster was first named */
};

/* Reads one file; faults are reported and counted. False when it could not be read to its
 * end: then what is missing is no fault of its own. */
bool config_file_read(struct config_reading *reading, const char *path);

/* Where a key was set, in a plain section or for a cluster or profile (its index). */
const struct config_origin *config_origin(const struct config_reading *reading, const char *section,
                                          const char *name);
const struct config_origin *config_cluster_origin(const struct config_reading *reading,
                                                  uint32_t cluster, const char *name);
const struct config_origin *config_profile_origin(const struct config_reading *reading,
                                                  uint32_t profile, const char *name);

/* Reports a fault or warning about a place; origin NULL or unset: about the first file as a whole.
 */
__attribute__((format(printf, 4, 5))) void config_fault(struct config_reading *reading,
                                                        bool is_fault,
                                                        const struct config_origin *origin,
                                                        const char *format, ...);

/* Completes the core's part of the configuration from what was read (check.c), and reports what
 * does not fit together or not to this host (faults), or is allowed but worth a second look
 * (warnings). */
void config_check(struct config_reading *reading);

/* "/DIR/FILE": "/DIR"; of "/FILE" it is "/". */
void config_folder_of(const char *path, char out[PATH_MAX]);

/* Whether what the configuration names can be changed by root and this user only, as whom the
 * service runs (trust/trustedpath.h): what it runs, what it reads, the ledger that it writes, the
 * sockets at which it listens or to which it connects. Each that others can change is a fault at
 * the line where its key stands, and so is a login that is refused because others can read it (F13,
 * B8). What is missing is reported elsewhere.
 *
 * For config_load, where the service reads the files, or --check as its user. */
void pathcheck_run(struct config_reading *reading);
