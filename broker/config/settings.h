/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/http/http.h"
#include "fmapi/fmapi.h"

/* The part of the configuration that each edge gets, at the start and at a reload. All of it
 * borrows from the configuration. */

/* out; NULL: no fabric manager is configured. */
const struct fmapi_options *settings_fabric(const struct config *config, struct fmapi_options *out);

struct settings_http {
    struct http_options options; /* loop, engine, bearers, keyring: to be filled in */
    struct http_cluster clusters[CLUSTERS_MAX]; /* options.clusters points here: do not copy */
};
void settings_http(const struct config *config, struct settings_http *out);
