/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/credential.h"

#include "base/memory.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct credential *credential_plain(struct clientcert *cert)
{
    struct credential *credential = memory_zeroed(sizeof *credential);
    credential->holders = 1;
    credential->cert = *cert;
    *cert = (struct clientcert){0};
    return credential;
}

/* RFC 7617. Without padding, to recognise it when a server quotes it with or without. */
static char *basic_value(const char *user, const char *password)
{
    char *text = memory_format("%s:%s", user, password);
    const int size = (int)strlen(text);
    char *value = memory_zeroed((size_t)size / 3 * 4 + 5);
    int length = EVP_EncodeBlock((unsigned char *)value, (const unsigned char *)text, size);
    while (value[length - 1] == '=')
        value[--length] = '\0';
    memory_wipe_text(text);
    return value;
}

struct credential *credential_basic(const char *user, struct secret password,
                                    struct clientcert *cert)
{
    static const char *const padding[] = {"", "", "==", "="};
    struct credential *credential = credential_plain(cert);
    const char *value = basic_value(user, secret_expose(password));
    credential->header =
        secret_of(memory_format("Authorization: Basic %s%s", value, padding[strlen(value) % 4]));
    credential->quotable[0] = secret_copy(password);
    credential->quotable[1] = secret_of(value);
    return credential;
}

struct credential *credential_bearer(struct secret token, struct clientcert *cert)
{
    struct credential *credential = credential_plain(cert);
    credential->header = secret_of(memory_format("Authorization: Bearer %s", secret_expose(token)));
    credential->quotable[0] = secret_copy(token);
    return credential;
}

struct credential *credential_session(struct secret token)
{
    struct credential *credential = credential_bearer(token, &(struct clientcert){0});
    credential->session = true;
    return credential;
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
