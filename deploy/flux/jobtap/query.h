/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What `flux jobtap query mcast.so` prints: the plugin's conf, the jobs that it sees to, and what
 * the broker last said of its pool and its link:
 *
 *   {"cluster":"elcap","patience":30,"optional":false,"release_only":false,
 *    "jobs":{"f2fRx":{"number":7,"vnis":[1024],"hwcoll":"reserved",…}},
 *    "broker":{"answers":true,"as_of":1767.5,"link":"up","vnis":{…},"addresses":{…},…}}
 *
 * The job manager waits for nothing, so the broker is asked beforehand, each ten seconds. */

#include "deploy/flux/jobtap/jobtap.h"

struct query;

/* NULL: memory is exhausted. jobtap->once is open, and is closed before this is destroyed. */
struct query *query_create(struct jobtap *jobtap);
void query_destroy(struct query *query); /* NULL is allowed */

/* Into args. Negative when it cannot be written. */
int query_answer(struct query *query, flux_plugin_arg_t *args);
