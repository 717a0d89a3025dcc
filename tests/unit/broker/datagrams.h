/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The other end of what mcastd sends as datagrams: the service manager, or the journal. Failures
 * are asserts. */

extern char datagrams_path[96]; /* in a folder of its own */

/* Fixtures of cmocka: the folder, and a socket at that path. */
int datagrams_open(void **state);
int datagrams_close(void **state);

/* Another name instead; "@…" is abstract. */
void datagrams_bind(const char *name);

/* The next one, valid until the next call; "": there is none. */
const char *datagrams_next(void);

/* Standard error is taken for the journal's, whose socket is at the path. */
void datagrams_become_journal(void);
