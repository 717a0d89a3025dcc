/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"

/* The running broker: joins the rooms, and runs until it is stopped.
 *
 * SIGTERM and SIGINT stop it, SIGHUP reloads the configuration (reload.h). SIGHUP must be blocked
 * by the caller from before the configuration was read: one that comes during the start is acted on
 * right after it. Several that come while one is acted on make one more reload together. */

/* The exit status: 0 stopped, 1 cannot start or saving failed to the end, 75 (EX_TEMPFAIL) it led
 * among several brokers and no longer does: to be started again, as a standby. Takes the
 * configuration over; path and log_level as in reload.h. */
int broker_run(struct config *config, const char *path, int log_level);
