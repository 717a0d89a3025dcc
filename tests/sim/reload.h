/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* An administrator who changes the configuration while jobs run (F5). */

struct core_config;
struct sim;

/* The one profile that jobs can name (P3), or none: it says which traffic classes. */
#define RELOAD_PROFILE "classes"
void reload_profile(struct core_config *config, bool there, uint32_t classes);

/* Draws the reloads of a storm that begins now. */
void reload_storm(struct sim *sim);
/* A fabric manager that was taken out is configured again. */
void reload_calm(struct sim *sim);
