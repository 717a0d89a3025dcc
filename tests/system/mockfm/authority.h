/* SPDX-License-Identifier: Apache-2.0 */
/* A certificate authority made at run time, and the certificates it issues. What cannot be made
 * fails the test. */
#pragma once

#include <gnutls/x509.h>
#include <time.h>

struct authority {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t cert;
};

/* `name` tells it from others; its certificate is also written to the folder as <name>.pem. */
void authority_create(struct authority *authority, const char *folder, const char *name);
void authority_destroy(struct authority *authority);

/* Issues a certificate for 127.0.0.1 that ends then, good for servers and clients, and writes it
 * and its key to the folder as <name>.pem and <name>.key, in the place of what is there. */
void authority_issue(const struct authority *authority, const char *folder, const char *name,
                     time_t end);
