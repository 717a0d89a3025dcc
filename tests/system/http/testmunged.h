/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* A munged of the test's own, with its key, socket and files in a folder: the machine's, if there
 * is one, is left alone. */

struct testmunged;

/* Files are called name.*. One character of the key tells munged with different keys apart. */
struct testmunged *testmunged_start(const char *folder, const char *name, char key);
/* One that stamps this address, as if it ran on another host. */
struct testmunged *testmunged_start_at(const char *folder, const char *name, char key,
                                       const char *origin);
void testmunged_stop(struct testmunged *testmunged); /* NULL is allowed */
const char *testmunged_socket(const struct testmunged *testmunged);

/* SIGSTOP and SIGCONT: it takes connections and says nothing. */
void testmunged_hold(struct testmunged *testmunged);
void testmunged_go_on(struct testmunged *testmunged);

/* "Authorization: Munge …\r\n" for one request, into out. uid: who asks munged for it; another than
 * the test's own only as root. ttl: seconds; 0: munged's own. */
void testmunged_header(const struct testmunged *testmunged, uid_t uid, int ttl, const char *method,
                       const char *target, char *out, size_t size);
