/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a NIC has counted since it was reset, as its driver tells it: the files
 * <sysfs>/<device>/device/telemetry/<counter>, "VALUE@SECONDS.NANOSECONDS". */

#include "node/settings.h"

#include <stdbool.h>
#include <stdint.h>

struct counters {
    uint64_t of[TRAFFIC_KINDS];
    uint8_t known; /* bits 1 << kind */
};

/* "tx_octets", …, by enum traffic_kind: in node.conf behind "traffic_", in notes, for people. */
extern const char *const counters_words[TRAFFIC_KINDS];

/* A file's text: digits, and after them nothing or "@" and a time. False: it is none, or no counter
 * of 63 bits. */
bool counter_parse(const char *text, uint64_t *value);

/* Each kind is the sum of the counters that node.conf names; known, if all of them can be read. */
void counters_read(const struct settings *settings, const char *device, struct counters *out);
