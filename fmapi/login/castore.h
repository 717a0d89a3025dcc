/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <uv.h>

/* The trusted authorities for the fabric manager's certificate, kept in memory. libcurl would read
 * them for each connection: the system's store takes 25 ms of the loop's time. Here a thread reads
 * them, again only when the file has changed, and connections wait for that. */

struct castore;

/* libcurl's TLS is OpenSSL, which alone can be given what OpenSSL has read. */
bool castore_possible(void);

/* file: NULL: the system's; it outlives this. A hashed directory is left to libcurl, which looks
 * for one file in it. ready is called from the loop when castore_await had said false and there is
 * nothing to wait for any more. */
struct castore *castore_create(uv_loop_t *loop, const char *file, void (*ready)(void *arg),
                               void *arg);

/* Whether castore_get would give what the file says now; it may be a second old. */
bool castore_await(struct castore *castore);

/* With a reference more, the caller's to X509_STORE_free. NULL: it could not be read, and libcurl,
 * which can no better, will say why. */
X509_STORE *castore_get(struct castore *castore);

/* NULL is allowed. closed is called from the loop when no thread uses it any more. */
void castore_destroy(struct castore *castore, void (*closed)(void *arg), void *arg);
