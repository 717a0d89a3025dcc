/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_WIRE_CLIENTCERT_H
#define MCAST_FMAPI_WIRE_CLIENTCERT_H

#include "base/error.h"
#include "base/secret.h"

#include <stdbool.h>
#include <stdint.h>

/* Our certificate (mTLS) and its key, as PEM in memory: what was checked is what is used. A pair
 * that was renewed on disk is used from the next login on. */

struct clientcert {
    struct secret cert; /* certificates, ours first; none: we show nothing */
    struct secret key;
    int64_t ends_ms; /* Unix; when our certificate ends */
};

/* Reads both files; none when the paths are NULL. 0, or an error code with a sentence that names
 * the file: unreadable, no PEM, a key that others can read (keyfile.h) or that a passphrase
 * protects, a key of another certificate, a certificate whose time is over or has not come. */
int clientcert_read(const char *cert_path, const char *key_path, struct clientcert *out,
                    struct error *err);

struct clientcert clientcert_copy(const struct clientcert *cert);

bool clientcert_equal(const struct clientcert *a, const struct clientcert *b);

void clientcert_wipe(struct clientcert *cert);

#endif
