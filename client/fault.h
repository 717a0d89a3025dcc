#ifndef MCAST_CLIENT_FAULT_H
#define MCAST_CLIENT_FAULT_H

/* Fills the struct mcast_error of a caller. */

#include "client/mcast.h"

/* Forgets what was there, sets code and text (control characters become spaces, so that a broker's
 * words cannot drive a terminal), and returns the code. error may be NULL. */
__attribute__((format(printf, 3, 4))) int fault_set(struct mcast_error *error, int code,
                                                    const char *format, ...);

/* As fault_set, with the stable word that tells a program which case it was. */
__attribute__((format(printf, 4, 5))) int fault_set_word(struct mcast_error *error, int code,
                                                         const char *word, const char *format, ...);

int fault_nomem(struct mcast_error *error);

#endif
