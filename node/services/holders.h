/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Which processes keep a service busy, as far as can be seen: those of its owner that have the NIC
 * open. The driver does not report it. */

#include <stdbool.h>
#include <stdint.h>

/* All that one run looks at, part of a second's worth: a user can have millions of
 * descriptors, and others wait for what a hook has to do. */
enum { HOLDERS_TEXT_SIZE = 256, HOLDERS_LOOKS_MAX = 20000 };

/* "process 4711 (hpl), process 4712 (hpl) and 6 more of uid 5588"; where none is seen, what else it
 * may be. proc: "/proc". device: "cxi0". looks: so far, of all calls; at first 0. Returns out. */
const char *holders_describe(const char *proc, uint32_t uid, const char *device,
                             unsigned int *looks, char out[HOLDERS_TEXT_SIZE]);

/* Whether a process of the user's lives on this node, whatever it has open: his job may run, and
 * not use the NIC yet. */
bool holders_user_lives(const char *proc, uint32_t uid);
