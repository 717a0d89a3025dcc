/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/rig/testbed.h"

/* The broker with an inventory that it reads every second, and mock-fm with the fabric 3x2x6: two
 * switches a group, of each of which ports 2 (or 3) to 5 are NICs' places. */

struct scene {
    struct testbed *testbed;
    char genders[256];
    char inventory[320], clusters[64];
};

/* fabric: mock-fm's --fabric; NULL: 3x2x6. */
void scene_open(struct scene *scene, const char *fabric);
void scene_close(struct scene *scene);

/* GET of the broker, which must be 200; the document, to be released. */
json_t *scene_get(const struct scene *scene, const char *path);
json_int_t scene_number(const struct scene *scene, const char *path, const char *member);
/* Waits until a member of /v1/fabric is a number. */
void scene_await(const struct scene *scene, const char *member, json_int_t number);
/* Waits until `error` of /v1/fabric has the words; NULL: until there is none. */
void scene_await_error(const struct scene *scene, const char *words);
/* Waits until the broker has looked at the fabric manager's lists once more, and found them good.
 */
void scene_await_check(const struct scene *scene);

/* POST or DELETE at mock-fm. */
void scene_tell_fm(const struct scene *scene, const char *method, const char *path,
                   const char *body);
/* A path of mock-fm has another state. */
void scene_set(const struct scene *scene, const char *path, const char *fm_state);
/* What /v1/events?follow=0 has, with kind; to be freed. */
char *scene_events(const struct scene *scene, const char *kind);
/* Waits until the events of this kind have the words. */
void scene_await_event(const struct scene *scene, const char *kind, const char *words);
/* A job starts, and ends: what the inventory meets is nothing to it. */
void scene_run_job(const struct scene *scene);
