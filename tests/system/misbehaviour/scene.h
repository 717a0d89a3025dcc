/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/testbed.h"

#include <stdbool.h>
#include <stddef.h>

/* A job, the real broker, and a fabric manager that misbehaves. Whatever fails here fails the test.
 */

enum { SCENE_TEXT = 512 };

/* Short times, so that trouble is over soon; a busy machine answers within them. */
extern const struct testbed_options scene_quick;

/* For setups and teardowns: everything runs, and the link is up. 0, or -1. */
int scene_start(const struct testbed_options *options);
int scene_start_quick(void **state);
int scene_stop(void **state);
struct testbed *scene_stage(void);

/* A control call of mock-fm; body NULL: none. */
void scene_tell_fm(const char *method, const char *path, const char *body);

/* Reserves for a job of 128 nodes; 201 is asserted: no job fails because of the fabric manager.
 * state and reason receive hwcoll.state and its reason, "" when there is none. */
void scene_reserve(const char *job, char state[SCENE_TEXT], char reason[SCENE_TEXT]);
void scene_job_state(const char *job, char state[SCENE_TEXT]);
void scene_release(const char *job);

bool scene_link_is(const char *state);
void scene_await_link(const char *state);
/* What the fabric manager holds: names in the order in which they were made, with blanks between.
 */
void scene_await_held(const char *names);
/* That it held something of this name, which was deleted. */
void scene_await_deleted(const char *name);
void scene_await_logged(const char *text);

/* How many events of this kind there were, since the ledger began. */
size_t scene_count_events(const char *kind);
