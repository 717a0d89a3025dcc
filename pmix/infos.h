/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pmix/mcast_pmix.h"

#include <stdbool.h>

/* An array of pmix_info_t while it is filled. Its texts may be secrets: they are overwritten before
 * they are freed. */
struct infos {
    pmix_info_t *at;
    size_t count, room;
};

/* For at most so many. Functions that return false: memory is exhausted. */
bool infos_create(struct infos *infos, size_t room);
void infos_release(struct infos *infos);

bool infos_add(struct infos *infos, const char *key, const void *value, pmix_data_type_t type);
bool infos_add_copy(struct infos *infos, const pmix_info_t *info);
/* NULL: not found, or no string. */
const char *infos_string(const struct infos *infos, const char *key);

/* Variables: PMIX_SET_ENVAR, and PMIX_UNSET_ENVAR (value: NULL). One of that name is replaced. */
bool infos_set_variable(struct infos *infos, const char *name, const char *value);
/* The name and value of one; false: it is no variable. */
bool infos_variable(const pmix_info_t *info, const char **name, const char **value);
