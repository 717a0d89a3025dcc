/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_STATE_RECORD_FAULT_H
#define MCAST_STATE_RECORD_FAULT_H

#include "core/reservation/record.h"

/* What is impossible about a record, naming the field; NULL: nothing. In a record to be written it
 * is a bug, in one that was read it is damage. */
const char *record_fault(const struct record *record);

#endif
