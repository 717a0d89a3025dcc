/* Comparing secrets. */
#ifndef MCAST_MOCK_FM_SECRET_H
#define MCAST_MOCK_FM_SECRET_H

#include <stdbool.h>

/* Are they the same? The time it takes depends on the length of `given` only. */
bool secret_equal(const char *expected, const char *given);

#endif
