#ifndef MCAST_CORE_FABRIC_CALL_DONE_H
#define MCAST_CORE_FABRIC_CALL_DONE_H

#include "core/state.h"

void core_call_done(struct core *core, const struct core_event *event);

#endif
