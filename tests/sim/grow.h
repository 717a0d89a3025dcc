/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/memory.h"

/* Makes room for one more element of an array. */
#define GROW(array, count, room)                                                                   \
    do {                                                                                           \
        if ((count) == (room)) {                                                                   \
            (room) = (room) ? 2 * (room) : 16;                                                     \
            (array) = memory_resized((array), (room), sizeof *(array));                            \
        }                                                                                          \
    } while (0)
