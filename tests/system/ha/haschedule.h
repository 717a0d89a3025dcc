/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/ha/units.h"

#include <stddef.h>

/* What is done to brokers, members of etcd and the links between them, each at a moment that the
 * dice choose, with the crowd at work. units_heal ends it. */

enum { HAFAULTS_MAX = 48 };

struct ha_context {
    struct scene scene;
    struct units units;
    struct etcdcluster *cluster;
    unsigned played[HAFAULTS_MAX], left_out[HAFAULTS_MAX];
    size_t fault; /* that is played now */
};

typedef void hafault_strike(struct ha_context *context);

struct hafault {
    const char *name;
    hafault_strike *strike;
};

const struct hafault *haschedule(size_t *count);
