#ifndef MCAST_STATE_RECORD_FAULT_H
#define MCAST_STATE_RECORD_FAULT_H

#include "core/reservation/record.h"

/* What is impossible about a record that claims to come from the core, in words that name the
 * field; NULL when nothing is. Asked both ways: what goes in is a bug when it has a fault, what
 * comes back is damage. */
const char *record_fault(const struct record *record);

#endif
