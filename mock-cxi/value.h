#ifndef MCAST_MOCK_CXI_VALUE_H
#define MCAST_MOCK_CXI_VALUE_H

/* The kinds of values in cxi.conf. Each returns 0, or ERROR_INVALID with what is allowed. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Decimal, or hexadecimal after 0x; min <= *out <= max. */
int value_number(const char *text, uint64_t min, uint64_t max, uint64_t *out, struct error *err);

int value_bool(const char *text, bool *out, struct error *err); /* yes, no */

/* A number and its unit, ms, s, m or h, of at most a year: milliseconds. */
int value_duration(const char *text, int64_t *ms, struct error *err);

/* EBUSY, ENOSPC or another name out of errno(3): its number. */
int value_errno(const char *text, int *number, struct error *err);

#endif
