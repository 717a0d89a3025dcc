/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_TESTS_HTTP_MUNGER_H
#define MCAST_TESTS_HTTP_MUNGER_H

#include <stdbool.h>
#include <sys/types.h>

/* A munged of the test's own, with its key, socket and files in a folder: the machine's, if there
 * is one, is left alone. */

struct munger;

/* Files are called name.*. One character of the key tells munged with different keys apart. */
struct munger *munger_start(const char *folder, const char *name, char key);
/* One that stamps this address, as if it ran on another host. */
struct munger *munger_start_at(const char *folder, const char *name, char key, const char *origin);
void munger_stop(struct munger *munger); /* NULL is allowed */
const char *munger_socket(const struct munger *munger);

/* SIGSTOP and SIGCONT: it takes connections and says nothing. */
void munger_hold(struct munger *munger);
void munger_go_on(struct munger *munger);

/* "Authorization: Munge …\r\n" for one request, into out. uid: who asks munged for it; another than
 * the test's own only as root. ttl: seconds; 0: munged's own. */
void munger_header(const struct munger *munger, uid_t uid, int ttl, const char *method,
                   const char *target, char *out, size_t size);

#endif
