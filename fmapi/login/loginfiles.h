/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fmapi/fmapi.h"
#include "fmapi/wire/credential.h"
#include "fmapi/login/oauth.h"

#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <sys/stat.h>

/* All that a login reads from files (docs/fabric-manager.md, "Login"). */

struct loginfiles_found {
    struct credential *credential; /* to send with; with OAuth to the token endpoint */
    struct oauthclient client;     /* OAuth */
};

/* In <authdir>, one line each, as Slurm's sites have them: passwd; or endpoint, client-id and
 * client-secret. Refused when others can read a secret or change any of them (F13). 0, or an error
 * code with a sentence that names the file and the next step. Thread-safe. */
int loginfiles_read(const struct fmapi_options *options, struct loginfiles_found *out,
                    struct error *err);

void loginfiles_wipe(struct loginfiles_found *found);

/* The trusted authorities for a server's certificate, as OpenSSL has read them. libcurl would read
 * them for each connection: the system's store takes 25 ms of the loop's time (G11). */

struct authorities {
    X509_STORE *store; /* NULL: not read, or libcurl, which can no better, will say why */
    /* To notice a change. The system's store has a directory, too: it keeps what it found there. */
    struct stat file, directory;
};

/* ca: as in struct fmapi_options. A hashed directory is left to libcurl, which looks for one file
 * in it; so is all when libcurl's TLS is not OpenSSL. Thread-safe. */
struct authorities authorities_read(const char *ca);
void authorities_release(struct authorities *authorities);

/* Whether the file is another one now. Thread-safe. */
bool authorities_changed(const struct authorities *authorities, const char *ca);
