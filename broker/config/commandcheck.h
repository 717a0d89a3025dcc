#ifndef MCAST_BROKER_CONFIG_COMMANDCHECK_H
#define MCAST_BROKER_CONFIG_COMMANDCHECK_H

#include "broker/config/file.h"

/* Whether what the configuration lets the service run (list_command) can be changed by nobody but
 * root and this user, as whom the service runs: a fault if it can. That it is not there, or cannot
 * be executed, is a warning: jobs start without it. Reports at the line where the key stands. */
void commandcheck_look(struct config_reading *reading);

#endif
