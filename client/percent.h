#ifndef MCAST_CLIENT_PERCENT_H
#define MCAST_CLIENT_PERCENT_H

/* Text as one segment of a URL's path, or one value of its query (RFC 3986, 2.1). */

#include "client/text.h"

/* Adds it with all but letters, digits and - . _ ~ as %XX. False: memory is exhausted, and some of
 * it may have been added. */
bool percent_add(struct text *text, const char *plain);

#endif
