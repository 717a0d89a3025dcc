/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "fmapi/fmapi.h"
#include "state/etcd/etcd.h"

/* The part of the configuration that fmapi gets, at the start and at a reload; it borrows from the
 * configuration. out; NULL: no fabric manager is configured. */
const struct fmapi_options *settings_fabric(const struct config *config, struct fmapi_options *out);

/* The values on which all brokers of one ledger have to agree, one a line; owned by the caller. */
char *settings_shared(const struct config *config);

/* The same for store = etcd; endpoints: room for their addresses. Borrows from config. The member
 * configuration is left to the caller. */
struct etcd_options settings_etcd(const struct config *config,
                                  const char *endpoints[ETCD_ENDPOINTS_MAX]);
