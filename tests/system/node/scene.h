/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The real broker that makes launch documents, and a node under test that opens them, by MUNGE or
 * with launch keys. Asserts on failure. */

#include "launch/sealed.h"
#include "tests/system/http/testmunged.h"
#include "tests/system/node/realbroker.h"
#include "tests/system/rig/folder.h"

struct scene {
    struct fixture *fixture;
    struct testbed *testbed;
    struct testmunged *munged;
    bool sealed;             /* without MUNGE */
    struct launch_keys keys; /* the broker's, then */
    /* of mcastd.conf and node.conf */
    char folder[FOLDER_PATH_SIZE], lines[256], config[320];
    char file[FOLDER_PATH_SIZE + 16]; /* of the launch document */
};

/* options->broker: further lines. For cmocka's setup and teardown. */
int scene_open(void **state, bool sealed, struct testbed_options options);
int scene_close(void **state);

/* MUNGE decodes such a credential for root only. */
void scene_needs_root(const struct scene *scene);

/* The broker's keys into its file, or what nodes have of them into theirs. */
void scene_write_keys(struct scene *scene, const struct launch_keys *keys, bool for_nodes);
/* What a resource manager hands a node. */
void scene_write_file(struct scene *scene, const char *before, const char *document);

/* As the resource manager does. The answer, for json_decref. */
json_t *scene_ask(struct scene *scene, const char *method, const char *path, const char *body,
                  int status);
void scene_call(struct scene *scene, const char *method, const char *path, const char *body,
                int status);

/* No request of a node can reach the broker from now on. */
void scene_hide_broker(void);
