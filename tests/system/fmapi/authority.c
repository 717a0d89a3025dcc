/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/fmapi/authority.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "authority: %s failed\n", what);
    abort();
}

/* What is in a certificate; NULL issuer: it signs itself. */
struct contents {
    const char *name;
    long from_s, until_s;
    X509 *issuer;
    EVP_PKEY *issuer_key;
};

static void add(X509 *cert, int kind, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);
    must(extension && X509_add_ext(cert, extension, -1) == 1, value);
    X509_EXTENSION_free(extension);
}

static X509 *sign(EVP_PKEY *key, const struct contents *contents)
{
    static long serial = 1;
    char common[32];
    X509 *cert = X509_new();
    must(cert != NULL, "X509_new");
    X509_NAME *subject = X509_get_subject_name(cert);

    (void)snprintf(common, sizeof common, "puppet %ld of %d", serial, (int)getpid());
    must(X509_set_version(cert, 2) == 1 &&
             ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++) == 1 &&
             X509_gmtime_adj(X509_getm_notBefore(cert), contents->from_s) &&
             X509_gmtime_adj(X509_getm_notAfter(cert), contents->until_s) &&
             X509_set_pubkey(cert, key) == 1 &&
             X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)common,
                                        -1, -1, 0) == 1 &&
             X509_set_issuer_name(cert, contents->issuer ? X509_get_subject_name(contents->issuer)
                                                         : subject) == 1,
         "making a certificate");
    add(cert, NID_subject_alt_name, contents->name);
    add(cert, NID_basic_constraints, contents->issuer ? "CA:FALSE" : "CA:TRUE");
    must(X509_sign(cert, contents->issuer ? contents->issuer_key : key, EVP_sha256()) > 0,
         "signing a certificate");
    return cert;
}

static void write_cert(const char *path, X509 *cert)
{
    FILE *file = fopen(path, "w");
    must(file && PEM_write_X509(file, cert) == 1 && fclose(file) == 0, path);
}

static void make(struct authority *authority, const struct contents *contents)
{
    const char *parent = getenv("TMPDIR");
    *authority = (struct authority){0};
    (void)snprintf(authority->folder, sizeof authority->folder, "%.40s/mcast-tls-XXXXXX",
                   parent ? parent : "/tmp");
    must(mkdtemp(authority->folder) != NULL, "mkdtemp");

    EVP_PKEY *key = EVP_EC_gen("P-256");
    must(key != NULL, "EVP_EC_gen");
    X509 *cert = sign(key, contents);
    (void)snprintf(authority->cert, sizeof authority->cert, "%s/cert.pem", authority->folder);
    (void)snprintf(authority->key, sizeof authority->key, "%s/key.pem", authority->folder);
    (void)snprintf(authority->hashed, sizeof authority->hashed, "%s/%08lx.0", authority->folder,
                   X509_subject_name_hash(cert));
    write_cert(authority->cert, cert);
    write_cert(authority->hashed, cert);
    FILE *file = fopen(authority->key, "w");
    must(file && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 &&
             fclose(file) == 0 && chmod(authority->key, 0600) == 0,
         authority->key);
    X509_free(cert);
    EVP_PKEY_free(key);
}

void authority_init(struct authority *authority, const char *name)
{
    make(authority, &(struct contents){.name = name, .from_s = -3600, .until_s = 3600});
}

void authority_issue(struct authority *authority, const char *name, const struct authority *issuer,
                     long from_s, long until_s)
{
    struct contents contents = {.name = name, .from_s = from_s, .until_s = until_s};
    FILE *cert = fopen(issuer->cert, "r");
    FILE *key = fopen(issuer->key, "r");

    must(cert && key, "reading the issuer");
    contents.issuer = PEM_read_X509(cert, NULL, NULL, NULL);
    contents.issuer_key = PEM_read_PrivateKey(key, NULL, NULL, NULL);
    must(contents.issuer && contents.issuer_key, "reading the issuer");
    (void)fclose(cert);
    (void)fclose(key);
    make(authority, &contents);
    X509_free(contents.issuer);
    EVP_PKEY_free(contents.issuer_key);
}

static void copy(const char *to, const char *from)
{
    char bytes[8192];
    FILE *in = fopen(from, "r");
    FILE *out = fopen(to, "w");

    must(in && out, to);
    size_t length = fread(bytes, 1, sizeof bytes, in);
    must(fwrite(bytes, 1, length, out) == length && fclose(out) == 0 && fclose(in) == 0, to);
}

void authority_overwrite(struct authority *authority, const struct authority *from)
{
    copy(authority->cert, from->cert);
    copy(authority->key, from->key);
}

void authority_release(struct authority *authority)
{
    (void)unlink(authority->cert);
    (void)unlink(authority->key);
    (void)unlink(authority->hashed);
    (void)rmdir(authority->folder);
}
