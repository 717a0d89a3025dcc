/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/tlssite.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/folder.h"

enum { LINES_SIZE = 1024, PATH_SIZE = 128 };

static struct site_options with_tls(const struct tlssite *tls, const struct site_options *options,
                                    char lines[static LINES_SIZE])
{
    struct site_options encrypted = *options;
    const char *f = tls->certificates;
    snprintf(lines, LINES_SIZE,
             "tls_cert = %s/server.pem\ntls_key = %s/server.key\ntls_client_ca = %s/ca.pem\n%s", f,
             f, f, options->broker ? options->broker : "");
    encrypted.broker = lines;
    return encrypted;
}

struct tlssite *tlssite_open(const struct site_options *options)
{
    struct tlssite *tls = calloc(1, sizeof *tls);
    char lines[LINES_SIZE];
    assert_non_null(tls);
    assert_int_equal(folder_create(tls->certificates), 0);
    authority_init(&tls->authority, "authority");
    char *pem = authority_pem(&tls->authority);
    assert_int_equal(folder_write(tls->certificates, "ca.pem", 0600, pem), 0);
    gnutls_free(pem);
    const struct testcert server = {.common = "broker", .purpose = GNUTLS_KP_TLS_WWW_SERVER};
    authority_write(&tls->authority, &server, tls->certificates, "server");
    const struct site_options encrypted = with_tls(tls, options, lines);
    tls->site = site_open(&encrypted);
    return tls;
}

void tlssite_close(struct tlssite *tls)
{
    site_close(tls->site);
    authority_release(&tls->authority);
    folder_destroy(tls->certificates);
    free(tls);
}

bool tlssite_reload(struct tlssite *tls, const struct site_options *options)
{
    char lines[LINES_SIZE];
    const struct site_options encrypted = with_tls(tls, options, lines);
    return site_reload(tls->site, &encrypted);
}

struct line *tlssite_tcp(const struct tlssite *tls)
{
    return site_tcp(tls->site);
}

int tlssite_secure(const struct tlssite *tls, struct line *line, const char *name,
                   const char *priorities, const char *alpn)
{
    char authority[PATH_SIZE], cert[PATH_SIZE], key[PATH_SIZE];
    snprintf(authority, sizeof authority, "%s/ca.pem", tls->certificates);
    snprintf(cert, sizeof cert, "%s/%s.pem", tls->certificates, name ? name : "");
    snprintf(key, sizeof key, "%s/%s.key", tls->certificates, name ? name : "");
    const struct line_tls how = {.authority = authority,
                                 .cert = name ? cert : NULL,
                                 .key = name ? key : NULL,
                                 .priorities = priorities,
                                 .alpn = alpn};
    return line_secure(line, &how);
}

struct line *tlssite_line(const struct tlssite *tls, const char *name)
{
    struct line *line = tlssite_tcp(tls);
    int rc = tlssite_secure(tls, line, name, NULL, NULL);
    if (rc < 0)
        fail_msg("handshake: %s", gnutls_strerror(rc));
    return line;
}

void tlssite_issue(struct tlssite *tls, const char *name)
{
    const struct testcert testcert = {.common = name, .purpose = GNUTLS_KP_TLS_WWW_CLIENT};
    authority_write(&tls->authority, &testcert, tls->certificates, name);
}

int tlssite_call(struct tlssite *tls, const char *name, const char *method, const char *path,
                 const char *body, struct answer *answer)
{
    struct line *line = tlssite_line(tls, name);
    int status = site_ask(tls->site, line, method, path, NULL, body, answer);
    line_close(line);
    return status;
}
