/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/age.h"
#include "cli/command.h"

/* What is wrong, as the broker's status tells it. Each function judges one thing and says its
 * faults: cause, since when, what it means for jobs, and below it what to do. */

struct verdict {
    const json_t *root; /* the status */
    time_t now;
    size_t width, lines, lines_max, faults, hidden;
};

enum { JUDGE_NAMES_SIZE = 256 };

/* step: what to do. */
__attribute__((format(printf, 3, 4))) void judge_fault(struct verdict *verdict, const char *step,
                                                       const char *format, ...);

/* Of root, or of an object in it; "" for none. */
const char *judge_text(const json_t *root, const char *object, const char *name);
/* 0 for none. */
long long judge_count(const json_t *root, const char *object, const char *name);

/* " for 3 min"; "" where it is not known. */
#define FOR(verdict, when) judge_age((verdict), (when), (char[AGE_SIZE + 8]){""})
const char *judge_age(const struct verdict *verdict, const char *when, char out[AGE_SIZE + 8]);

/* Seconds until then, below 0 since then; 0: it is no time. */
double judge_seconds_until(const struct verdict *verdict, const char *when);

/* One more in a list of names: of the first, and how many more there are. */
void judge_add_name(char names[JUDGE_NAMES_SIZE], long long index, const char *name);

/* ---- judgebroker.c ---- */
void judge_leaders(struct verdict *verdict);
void judge_role(struct verdict *verdict);
void judge_storage(struct verdict *verdict);
void judge_ended(struct verdict *verdict);
void judge_munge(struct verdict *verdict);
void judge_service(struct verdict *verdict);
void judge_alarms(struct verdict *verdict);
void judge_listed(struct verdict *verdict);
void judge_standbys(struct verdict *verdict);
void judge_reload(struct verdict *verdict);
void judge_ending(struct verdict *verdict);

/* ---- judgepools.c ---- */
void judge_vnis(struct verdict *verdict);
void judge_partition_keys(struct verdict *verdict);
void judge_addresses(struct verdict *verdict);
void judge_budgets(struct verdict *verdict);
void judge_nodes(struct verdict *verdict);
void judge_adopted(struct verdict *verdict);
void judge_partitions(struct verdict *verdict);

/* ---- judgefabric.c ---- */
void judge_link(struct verdict *verdict);
void judge_cleanups(struct verdict *verdict);
void judge_verify(struct verdict *verdict);
void judge_lists(struct verdict *verdict);
void judge_plugins(struct verdict *verdict);
