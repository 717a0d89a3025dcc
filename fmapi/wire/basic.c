#include "fmapi/wire/basic.h"

#include <stdint.h>
#include <string.h>

static unsigned char byte_at(const char *user, const char *password, size_t i)
{
    size_t length = strlen(user);
    return (unsigned char)(i < length ? user[i] : i == length ? ':' : password[i - length - 1]);
}

void basic_encode(char *out, const char *user, const char *password)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(user) + 1 + strlen(password);
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < length; i++) {
        bits = bits << 8 | byte_at(user, password, i);
        for (held += 8; held >= 6; held -= 6)
            *out++ = digits[bits >> (held - 6) & 63];
    }
    if (held > 0)
        *out++ = digits[bits << (6 - held) & 63];
    *out = '\0';
}
