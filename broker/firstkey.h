#ifndef MCAST_BROKER_FIRSTKEY_H
#define MCAST_BROKER_FIRSTKEY_H

#include "broker/config/config.h"
#include "base/error.h"

/* mcastd --make-key: the key that seals the ledger, made before the first start by root, for a
 * service whose own user may change nothing in /etc. */

/* Makes [state] key_file for the user (serviceuser.h; NULL: not named) when there is no such
 * file; one that is there is left as it is. 0, or a code with a sentence. *made says which. */
int firstkey_make(const struct config *config, const char *user, bool *made, struct error *err);

#endif
