/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

int core_apply(struct core *core, const struct record *record, struct error *err);
/* Applies a record of our own and asks for it to be saved. */
void core_save_record(struct core *core, struct record record);
/* The same of a reservation, which it returns. */
struct reservation *core_save(struct core *core, const struct reservation_record *record);
void core_save_facts(struct core *core, const struct facts_record *facts);
/* Of applyshared.c. */
int core_apply_shared(struct core *core, const struct shared_vni_record *rec, struct error *err);
int core_apply_shared_gone(struct core *core, uint16_t vni, struct error *err);
int core_apply_partitions(struct core *core, const char *text, struct error *err);
void core_release_shared(struct core *core); /* all memory of these */
struct operation *core_operation(struct core *core,
                                 struct reservation *reservation); /* makes one */
struct cluster *core_cluster(struct core *core, const char *name); /* makes one */
/* The cluster's configuration, or NULL when no such cluster is configured. */
const struct cluster_config *core_cluster_config(const struct core *core, const char *name);
/* Its jobs have their VNIs from a Slurm that gives them itself (B9). */
bool core_has_plugin(const struct core *core, const char *cluster);
