/* Recounts what the objects hold as the changes that make it out of nothing: shorter than what
 * happened. */
#ifndef MCAST_MOCK_FM_OBJECTS_RECOUNT_H
#define MCAST_MOCK_FM_OBJECTS_RECOUNT_H

#include "mock-fm/objects/objects.h"

/* 0 to go on; anything else ends the recount. What the change borrows is valid during the call. */
typedef int recount_listener(void *listener, const struct change *change);

/* 0, or what the listener ended it with. */
int recount(const struct objects *objects, recount_listener *tell, void *listener);

#endif
