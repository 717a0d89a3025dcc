/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/badinput/cases.h"
#include "tests/system/http/site.h"

/* Runs cases against a broker, and holds after each of them:
 *  - every answer is one that openapi.json declares, and a refusal a whole problem document;
 *  - where the connection goes on, the next request on it is answered as itself;
 *  - a good request on a new connection is answered;
 *  - nothing was changed: /v1/jobs says byte for byte what it said before, and so does /v1/status
 * of VNIs, addresses, jobs, events, and of commits and records saved. */

struct run;

/* Reserves one job first, so that there is something to be harmed. */
struct run *run_open(const char *mcastd);
void run_close(struct run *run);
/* The program runs with libmicrohttpd 1.0 or newer. */
bool run_since_1(void);

struct site *run_site(const struct run *run);

/* Over TCP nobody is known: what is refused only after looking at who asks is 401 there. */
enum transport { TRANSPORT_UNIX, TRANSPORT_TCP };
void run_table(struct run *run, const struct bad_table *table, enum transport transport);

/* The last two of the list above, after something that is in no table. */
void run_assert_unharmed(struct run *run);
