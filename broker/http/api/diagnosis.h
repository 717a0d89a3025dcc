/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/engine.h"

#include <stddef.h>
#include <stdint.h>

/* What is wrong with a broker, from what it knows of itself: numbers in, findings out. Looks at
 * nothing and waits for nothing. */

enum diagnosis_level { DIAGNOSIS_OK, DIAGNOSIS_WARNING, DIAGNOSIS_PROBLEM };
const char *diagnosis_level_word(enum diagnosis_level level); /* "ok", "warning", "problem" */

enum { DIAGNOSIS_TEXT_SIZE = 640 };

struct diagnosis_finding {
    const char *check; /* stable word */
    enum diagnosis_level level;
    const char *finding; /* one sentence, without a full stop */
    const char *advice;  /* NULL: nothing is to be done */
};

/* What it points to dies with the call. */
typedef void diagnosis_fn(void *arg, const struct diagnosis_finding *finding);

struct diagnosis_facts {
    int64_t now_ms;
    const struct core_config *config;
    const struct core_status *core;
    const struct core_cluster_status *clusters; /* config->cluster_count of them */
    const struct alarm *alarms;                 /* that are on */
    const struct engine_counters *counters;
    bool reload_refused; /* the last reload was, and the configuration before it is in force */
    int64_t certificate_ends_ms;                  /* of the broker's own, in use; 0: it has none */
    uint64_t files_open, files_max, files_needed; /* needed: for connections_max */
    unsigned connections_max;
    diagnosis_fn *each; /* called with each finding */
    void *arg;
};

/* Every check says something at least once, also when all is well, but for those that do not apply
 * (no fabric manager, no TLS). */
void diagnosis_make(const struct diagnosis_facts *facts);
