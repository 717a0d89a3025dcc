/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_FAULT_H
#define MCAST_CLIENT_FAULT_H

/* Fills the struct mcast_error of a caller. */

#include "client/mcast.h"

/* Forgets what was there, sets code, text (control characters become spaces, so that a broker's
 * words cannot drive a terminal), and the stable word that tells a program which case it was, and
 * returns the code. error may be NULL. */
__attribute__((format(printf, 4, 5))) int fault_set_word(struct mcast_error *error, int code,
                                                         const char *word, const char *format, ...);
#define fault_set(error, code, ...) fault_set_word(error, code, "", __VA_ARGS__)

int fault_nomem(struct mcast_error *error);

#endif
