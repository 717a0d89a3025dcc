#include "tests/system/fmapi/authority.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "authority: %s failed\n", what);
    abort();
}

static X509 *sign(EVP_PKEY *key, const char *name)
{
    X509 *cert = X509_new();
    must(cert != NULL, "X509_new");
    X509_NAME *subject = X509_get_subject_name(cert);
    X509_EXTENSION *alternative = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, name);

    must(alternative != NULL && X509_set_version(cert, 2) == 1 &&
             ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) == 1 &&
             X509_gmtime_adj(X509_getm_notBefore(cert), -3600) != NULL &&
             X509_gmtime_adj(X509_getm_notAfter(cert), 3600) != NULL &&
             X509_set_pubkey(cert, key) == 1 &&
             X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                        (const unsigned char *)"puppet", -1, -1, 0) == 1 &&
             X509_set_issuer_name(cert, subject) == 1 && X509_add_ext(cert, alternative, -1) == 1 &&
             X509_sign(cert, key, EVP_sha256()) > 0,
         "making a certificate");
    X509_EXTENSION_free(alternative);
    return cert;
}

static void write_cert(const char *path, X509 *cert)
{
    FILE *file = fopen(path, "w");
    must(file != NULL && PEM_write_X509(file, cert) == 1 && fclose(file) == 0, path);
}

void authority_init(struct authority *authority, const char *name)
{
    const char *parent = getenv("TMPDIR");
    (void)snprintf(authority->folder, sizeof authority->folder, "%.40s/mcast-tls-XXXXXX",
                   parent != NULL ? parent : "/tmp");
    must(mkdtemp(authority->folder) != NULL, "mkdtemp");

    EVP_PKEY *key = EVP_EC_gen("P-256");
    must(key != NULL, "EVP_EC_gen");
    X509 *cert = sign(key, name);
    (void)snprintf(authority->cert, sizeof authority->cert, "%s/cert.pem", authority->folder);
    (void)snprintf(authority->key, sizeof authority->key, "%s/key.pem", authority->folder);
    (void)snprintf(authority->hashed, sizeof authority->hashed, "%s/%08lx.0", authority->folder,
                   X509_subject_name_hash(cert));
    write_cert(authority->cert, cert);
    write_cert(authority->hashed, cert);
    FILE *file = fopen(authority->key, "w");
    must(file != NULL && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 &&
             fclose(file) == 0,
         authority->key);
    X509_free(cert);
    EVP_PKEY_free(key);
}

void authority_release(struct authority *authority)
{
    (void)unlink(authority->cert);
    (void)unlink(authority->key);
    (void)unlink(authority->hashed);
    (void)rmdir(authority->folder);
}
