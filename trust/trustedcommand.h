#ifndef MCAST_TRUST_TRUSTEDCOMMAND_H
#define MCAST_TRUST_TRUSTEDCOMMAND_H

#include "base/error.h"

/* Whether a command can be changed by nobody but root and this user, as whom it runs: its program,
 * and every file that an argument names, for an interpreter runs that (trust/trustedpath.h). words
 * ends with NULL. 0; ERROR_REFUSED: somebody else could; ERROR_NOT_FOUND: it is not there or cannot
 * be executed; with a sentence. */
int trustedcommand_check(char *const *words, struct error *err);

#endif
