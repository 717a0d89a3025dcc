#ifndef MCAST_HOOK_OBJECT_H
#define MCAST_HOOK_OBJECT_H

#include "base/error.h"

/* A shared object of the hook, where it lies beside the program. */

/* A function in it, to be copied into a pointer of its type: ISO C has no cast for it. The object
 * stays open. NULL with a sentence in err. */
void *object_open(const char *file, const char *symbol, struct error *err);

#endif
