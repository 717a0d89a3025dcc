/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gnutls/x509.h>

/* Certificates, made when a test runs. What cannot be made fails the test. */

struct testcert {
    const char *common;  /* the subject's CN; NULL: none */
    const char *dns[4];  /* NULL-terminated */
    const char *purpose; /* OID of the extended key usage; NULL: any */
    long begins, ends;   /* seconds from now; both 0: an hour around now */
};

/* Who signs. */
struct authority {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t cert;
};

void authority_init(struct authority *authority, const char *name);
void authority_release(struct authority *authority);

/* Its own certificate as PEM; the caller frees it with gnutls_free. */
char *authority_pem(const struct authority *authority);
/* A certificate, also for 127.0.0.1, as PEM, and its key (NULL: not wanted); as above. */
char *authority_issue(const struct authority *authority, const struct testcert *testcert,
                      char **key);

/* Writes folder/name.pem and folder/name.key, in place of what is there. */
void authority_write(const struct authority *authority, const struct testcert *testcert,
                     const char *folder, const char *name);

/* Writes what both ends of mutual TLS need, signed by a new authority: ca.pem, server.pem,
 * server.key, client.pem and client.key, as struct etcdcluster_options wants them. */
void authority_equip(const char *folder);
