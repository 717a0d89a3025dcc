#ifndef MCAST_FMAPI_WIRE_BASEURL_H
#define MCAST_FMAPI_WIRE_BASEURL_H

#include "base/error.h"

#include <stdbool.h>

/* The fabric manager's base URL, and the links in its answers seen from there.
 * Base URLs are like "https://api-gw/apis/fabric-manager" or "https://fmn:8000". */

/* Whether text is an http or https URL without a user and a fragment: 0, or ERROR_INVALID with a
 * sentence that begins with what ("the URL") and does not quote it. */
int baseurl_check(const char *text, const char *what, struct error *err);

/* Whether nobody on the way can read what is sent to this URL, which baseurl_check takes: https, or
 * an address of this host. */
bool baseurl_private(const char *text);

/* A copy without trailing slashes. NULL with a sentence in err when it is no http or https URL, or
 * carries a user, query or fragment (a login belongs into authdir, where it can be guarded). */
char *baseurl_create(const char *text, struct error *err);

/* The base within the URL that jobs are given for their trees, FI_CXI_COLL_FABRIC_MGR_URL:
 * "<base>/fabric/collectives/multicasts" (fabric-manager.md, "The job's environment"). As
 * baseurl_create; also NULL when the URL ends otherwise. */
char *baseurl_of_trees(const char *text, struct error *err);

/* The URL of a link, from malloc. A path is one of the fabric manager's own and comes below base,
 * unless it begins with base's path already; a full URL must have base's scheme, host, port and
 * path. NULL when the link leads elsewhere or is odd (relative, dot segments, fragment, spaces,
 * backslashes): the login must go nowhere else. Also NULL when memory is exhausted. */
char *baseurl_resolve(const char *base, const char *link);

#endif
