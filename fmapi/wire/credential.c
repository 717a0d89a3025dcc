/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/credential.h"

#include "base/memory.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct credential {
    unsigned holders;
    struct secret header;
    struct secret quotable[2]; /* parts of the header, as they are and as they were before it */
    struct clientcert cert;
    bool session;
};

struct credential *credential_plain(struct clientcert *cert)
{
    struct credential *credential = memory_zeroed(sizeof *credential);
    credential->holders = 1;
    credential->cert = *cert;
    *cert = (struct clientcert){0};
    return credential;
}

static struct secret header_of(const char *scheme, const char *value, const char *padding)
{
    static const char name[] = "Authorization";
    size_t size = strlen(name) + strlen(scheme) + strlen(value) + strlen(padding) + 4;
    char *line = memory_zeroed(size);
    (void)snprintf(line, size, "%s: %s %s%s", name, scheme, value, padding);
    return secret_of(line);
}

void basic_encode(char *out, const char *user, const char *password)
{
    size_t size = strlen(user) + strlen(password) + 2;
    char *text = memory_zeroed(size);
    int length = snprintf(text, size, "%s:%s", user, password);
    length = EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, length);
    while (out[length - 1] == '=')
        out[--length] = '\0';
    memory_wipe_text(text);
}

struct credential *credential_basic(const char *user, struct secret password,
                                    struct clientcert *cert)
{
    static const char *const padding[] = {"", "", "==", "="};
    struct credential *credential = credential_plain(cert);
    size_t length = strlen(user) + strlen(secret_expose(password));
    char *encoded = memory_zeroed(BASIC_SIZE(length));
    basic_encode(encoded, user, secret_expose(password));
    credential->header = header_of("Basic", encoded, padding[strlen(encoded) % 4]);
    credential->quotable[0] = secret_copy(password);
    credential->quotable[1] = secret_of(encoded);
    return credential;
}

struct credential *credential_bearer(struct secret token, struct clientcert *cert)
{
    struct credential *credential = credential_plain(cert);
    credential->header = header_of("Bearer", secret_expose(token), "");
    credential->quotable[0] = secret_copy(token);
    return credential;
}

struct credential *credential_session(struct secret token)
{
    struct credential *credential = credential_bearer(token, &(struct clientcert){0});
    credential->session = true;
    return credential;
}

bool credential_is_session(const struct credential *credential)
{
    return credential->session;
}

struct credential *credential_hold(struct credential *credential)
{
    credential->holders++;
    return credential;
}

void credential_drop(struct credential *credential)
{
    if (credential == NULL || --credential->holders > 0)
        return;
    secret_wipe(&credential->header);
    secret_wipe(&credential->quotable[0]);
    secret_wipe(&credential->quotable[1]);
    clientcert_wipe(&credential->cert);
    free(credential);
}

bool credential_equal(const struct credential *a, const struct credential *b)
{
    bool headless = secret_none(a->header) && secret_none(b->header);
    return (headless || secret_equal(a->header, b->header)) && clientcert_equal(&a->cert, &b->cert);
}

struct secret credential_header(const struct credential *credential)
{
    return credential->header;
}

const struct clientcert *credential_cert(const struct credential *credential)
{
    return &credential->cert;
}

void credential_add_secrets(const struct credential *credential, struct secrets *secrets)
{
    for (size_t i = 0; i < 2; i++)
        if (!secret_none(credential->quotable[i]))
            (void)secrets_add(secrets, secret_expose(credential->quotable[i]));
}

bool credential_text_valid(const char *text, size_t length, size_t max)
{
    if (length < 1 || length > max)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}
