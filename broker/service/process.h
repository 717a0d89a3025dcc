/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"

/* Limits, signals and memory of the process as the service wants them. Before there are threads. */
void process_prepare(const struct config *config);
