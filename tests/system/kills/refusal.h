/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/scene.h"

/* A start of the broker that must be refused, by one sentence with these words, while everything
 * else goes on (B6). What is not so is a fault. */
void refusal_expect(struct scene *scene, const char *mcastd, const char *words);
