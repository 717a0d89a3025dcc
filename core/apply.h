/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_APPLY_H
#define MCAST_CORE_APPLY_H

#include "core/state.h"

int core_apply(struct core *core, const struct record *record, struct error *err);
/* The same of a record of our own, which fits; else the process ends. */
void core_apply_own(struct core *core, const struct record *record);
/* Applies and asks for it to be saved; returns the reservation. */
struct reservation *core_save(struct core *core, const struct reservation_record *record);
void core_save_gone(struct core *core, struct reservation *reservation);
void core_save_founded(struct core *core);
void core_save_facts(struct core *core, const struct facts_record *facts);
void core_save_node(struct core *core, const struct node_record *record);
void core_save_cleanup(struct core *core, const struct cleanup_record *record);
void core_save_cleaned(struct core *core, const struct cleanup_record *record);
void core_save_prune(struct core *core, uint64_t up_to); /* events up to this one go */
struct operation *core_operation(struct core *core,
                                 struct reservation *reservation); /* makes one */
struct cluster *core_cluster(struct core *core, const char *name); /* makes one */
/* The cluster's configuration, or NULL when no such cluster is configured. */
const struct cluster_config *core_cluster_config(const struct core *core, const char *name);

#endif
