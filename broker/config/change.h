/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/config/table.h"

#include <stdbool.h>
#include <stddef.h>

/* In what two configurations differ: what a reload would change, row by row of the table. */

struct config_change {
    const struct config_key *key; /* NULL: the cluster or profile as a whole was added or removed */
    bool contents;                /* of a file that it names; its value may be the same */
    /* "[vni] pool = 1024-2047 -> 1024-4095", "[cluster \"tuo\"] added", "[broker] tls_key was read
     * again". Values hold no secrets: those are in files. */
    char words[1024];
};

struct config_changes {
    struct config_change *items;
    size_t count;
    bool fabric; /* one of them ends connections and login at the fabric manager */
};

/* In the order of the table, clusters and profiles behind it, files last. To be released. */
void config_changes_find(struct config_changes *changes, const struct config *before,
                         const struct config *after);
void config_changes_release(struct config_changes *changes);

/* Notes in config which version is there of each file whose contents count as configuration:
 * certificates, keys, logins. What differs between two that have noted it is a change. */
void config_files_stat(struct config *config);
