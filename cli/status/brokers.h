/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* Asks for the status, at most so long (0: as long as any request). Of several brokers that --url
 * or MCAST_URL lists each is asked, and *status is that of the one that leads, else of the first
 * that answers; its member "brokers" says of each: url, role, version and start, or error. 0, or a
 * negative code. */
int brokers_status(struct call *call, unsigned answer_ms, json_t **status);

/* The same of several; NULL: not several are listed, or none of them answers. */
json_t *brokers_ask(const struct call *call);

/* Of such a status, the URL of another broker that leads as well; or NULL. */
const char *brokers_rival(const json_t *status);
