/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/engine.h"
#include "broker/http/auth/pluginlogin.h"
#include "broker/http/request/writer.h"

#include <stddef.h>
#include <stdint.h>

/* What is wrong with a broker, from what it knows of itself: numbers in, findings out. Looks at
 * nothing and waits for nothing. */

struct diagnosis_facts {
    int64_t now_ms;
    const struct core_config *config;
    const struct core_status *core;
    const struct core_cluster_status *clusters; /* config->cluster_count of them, */
    const struct plugin_use *const *plugins;    /* and of these; each may be NULL */
    const struct alarm *alarms;                 /* that are on */
    const char *foreign_partition;              /* the first that has VNIs of the pool; or NULL */
    const struct reservation *foreign_user;     /* a job with a VNI of another partition; or NULL */
    const struct engine_counters *counters;
    bool reload_refused; /* the last reload was, and the configuration before it is in force */
    const char *reload_refusal; /* why */
    int64_t munged_away_ms; /* since when our munged does not answer; 0: it does, or is not asked */
    int64_t certificate_ends_ms;                  /* of the broker's own, in use; 0: it has none */
    uint64_t files_open, files_max, files_needed; /* needed: for connections_max */
    unsigned connections_max;
    struct writer *out;
};

/* "findings": each with its check (a stable word), its level, a sentence, and an advice; null:
 * nothing is to be done. Every check says something at least once, also when all is well, but for
 * those that do not apply (no fabric manager, no TLS). */
void diagnosis_write(const struct diagnosis_facts *facts);
