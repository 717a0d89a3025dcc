#ifndef MCAST_BROKER_CONFIG_CHECK_H
#define MCAST_BROKER_CONFIG_CHECK_H

#include "broker/config/file.h"

/* Completes the core's part of the configuration from what was read, and reports what does not fit
 * together or not to this host (faults), or is allowed but deserves a second look (warnings). */
void config_check(struct config_reading *reading);

#endif
