/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/secrets.h"

#include "base/text.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

static const char spaces[] = " \t\r\n\v\f";
static const char openers[] = " \t\r\n\v\f\"'\\"; /* before a value; escaped when JSON is quoted */
static const char enders[] = " \t\r\n\v\f\"\\";   /* no credential or token holds one of these */

bool secrets_add(struct secrets *secrets, const char *value)
{
    if (value[0] == '\0')
        return true;
    for (size_t i = 0; i < secrets->count; i++)
        if (strcmp(secrets->values[i], value) == 0)
            return true;
    if (secrets->count == SECRETS_MAX)
        return false;
    secrets->values[secrets->count++] = value;
    return true;
}

/* The value after a login's scheme, NULL when this is another word. */
static const char *after_scheme(const char *rest)
{
    return strspn(rest, spaces) > 0 ? rest + strspn(rest, openers) : NULL;
}

static const char *after_key(const char *rest)
{
    rest += strspn(rest, openers);
    return *rest == ':' || *rest == '=' ? rest + 1 + strspn(rest + 1, openers) : NULL;
}

static void mark_announced(bool *hidden, const char *text, const char *word,
                           const char *after(const char *rest))
{
    const char *at = text;
    while ((at = strcasestr(at, word))) {
        at += strlen(word);
        const char *value = after(at);
        if (value)
            memset(hidden + (value - text), true, strcspn(value, enders));
    }
}

/* Every occurrence, those that overlap too, and the padding when it is base64. */
static void mark_secret(bool *hidden, const char *text, const char *secret)
{
    size_t length = strlen(secret);
    for (const char *at = text; (at = strstr(at, secret)); at++)
        memset(hidden + (at - text), true, length + strspn(at + length, "="));
}

bool secrets_blank(const struct secrets *secrets, const char *text, char *out, size_t size)
{
    static const char blank[] = "***";
    static const char *const keys[] = {"sessiontoken", "access_token", "refresh_token", "id_token",
                                       "client_secret"};
    bool hidden[SECRETS_TEXT_MAX] = {false};
    size_t length = strnlen(text, SECRETS_TEXT_MAX + 1);
    size_t written = 0;
    assert(size > 0);
    out[0] = '\0';
    if (length > SECRETS_TEXT_MAX)
        return false;
    /* Marked first, replaced afterwards: secrets may overlap. */
    mark_announced(hidden, text, "basic", after_scheme);
    mark_announced(hidden, text, "bearer", after_scheme);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        mark_announced(hidden, text, keys[i], after_key);
    for (size_t i = 0; i < secrets->count; i++)
        mark_secret(hidden, text, secrets->values[i]);

    for (size_t i = 0; i < length; i++) {
        size_t adds = !hidden[i] ? 1 : i > 0 && hidden[i - 1] ? 0 : sizeof blank - 1;
        if (written + adds > size - 1)
            break;
        memcpy(out + written, hidden[i] ? blank : text + i, adds);
        written += adds;
    }
    out[written] = '\0';
    return true;
}

static uint32_t code_point(const char *text, size_t length)
{
    uint32_t point = (unsigned char)text[0] & (length == 1 ? 0x7fu : 0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3fu);
    return point;
}

static bool harmless(uint32_t point)
{
    if (point < 0x20 || (point >= 0x7f && point <= 0x9f))
        return false;
    return !(point >= 0x2028 && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069) &&
           point != 0x200e && point != 0x200f && point != 0xfeff;
}

size_t printable_copy(char *out, size_t size, const char *text, size_t length)
{
    assert(size >= 4);
    size_t written = 0;
    size_t cut = 0; /* the last character's end that leaves space for "..." */

    for (size_t i = 0; i < length;) {
        size_t bytes = utf8_length(text + i, length - i);
        bool keep = bytes > 0 && harmless(code_point(text + i, bytes));
        size_t adds = keep ? bytes : 1;

        if (written + adds > size - 1) {
            memcpy(out + cut, "...", 4);
            return cut + 3;
        }
        if (keep)
            memcpy(out + written, text + i, bytes);
        else
            out[written] = '?';
        written += adds;
        i += bytes > 0 ? bytes : 1;
        if (written + 3 <= size - 1)
            cut = written;
    }
    out[written] = '\0';
    return written;
}

void secrets_clean(const struct secrets *secrets, const char *text, char *out, size_t size)
{
    char blanked[2 * WORDS_MAX]; /* more than fits: printable_copy must see that it has to cut */
    out[0] = '\0';
    if (text && secrets_blank(secrets, text, blanked, sizeof blanked))
        (void)printable_copy(out, size, blanked, strlen(blanked));
}
