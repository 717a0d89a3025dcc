/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/api/diagnosis.h"

/* One finding of a diagnosis, as it is written. */

enum finding_level { OK, WARNING, PROBLEM };

/* advice: what to do, unless all is well. */
__attribute__((format(printf, 5, 6))) void finding(const struct diagnosis_facts *facts,
                                                   enum finding_level level, const char *check,
                                                   const char *advice, const char *format, ...);

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    DAY_MS = 24 * HOUR_MS,
};

/* "3 days", "5 minutes": whole units, the largest that fits. Negative times count as 0. */
#define DURATION(ms) finding_duration((ms), (char[32]){""})
const char *finding_duration(int64_t ms, char out[32]);

/* Those on what jobs need: the fabric manager, pools, clusters' resource managers. */
void jobdiagnosis_write(const struct diagnosis_facts *facts);
