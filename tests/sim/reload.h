/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* An administrator who changes the configuration while jobs run (F5). */

struct sim;

/* Draws the reloads of a storm that begins now. */
void reload_storm(struct sim *sim);
/* A fabric manager that was taken out is configured again. */
void reload_calm(struct sim *sim);
