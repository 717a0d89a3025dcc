/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* The fabric manager's base URL, and links relative to it.
 * Base URLs are like "https://api-gw/apis/fabric-manager" or "https://fmn:8000". */

/* Whether text is an http or https URL without a user and a fragment: 0, or ERROR_INVALID with a
 * sentence that begins with what ("the URL") and does not quote it. */
int baseurl_check(const char *text, const char *what, struct error *err);

/* Whether what is sent to this URL, which baseurl_check accepts, is confidential: https, or an
 * address of this host. */
bool baseurl_private(const char *text);

/* A copy without trailing slashes. NULL with a sentence in err when it is no http or https URL, or
 * has a user, query or fragment (a login belongs into authdir, where modes protect it). */
char *baseurl_create(const char *text, struct error *err);

/* The base within the URL that jobs are given for their trees, FI_CXI_COLL_FABRIC_MGR_URL:
 * "<base>/fabric/collectives/multicasts" (docs/fabric-manager.md, "The job's environment"). As
 * baseurl_create; also NULL when the URL ends otherwise. */
char *baseurl_of_trees(const char *text, struct error *err);

/* The URL of a link, from malloc. A path is appended to base, unless it begins with base's path; a
 * full URL must have base's scheme, host, port and path. NULL when the link leads elsewhere or is
 * unusual (relative, dot segments, fragment, spaces, backslashes), because the login is sent there.
 */
char *baseurl_resolve(const char *base, const char *link);
