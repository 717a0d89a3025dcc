/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/wishes.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WISH_SIZE = 64, PREFIX_LENGTH = 4 };

/* The resource that the key is about, which begins with def_, res_ or max_; LIMITS_COUNT: none. */
static int find_type(const char *key, size_t length)
{
    int type = 0;
    if (length < PREFIX_LENGTH)
        return LIMITS_COUNT;
    key += PREFIX_LENGTH;
    length -= PREFIX_LENGTH;
    while (type < LIMITS_COUNT && (strlen(limits_key((enum cxi_rsrc_type)type)) != length ||
                                   memcmp(key, limits_key((enum cxi_rsrc_type)type), length) != 0))
        type++;
    return type;
}

static uint32_t *find_number(struct limits_rule *rule, const char *key)
{
    if (strncmp(key, "def_", PREFIX_LENGTH) == 0)
        return &rule->def;
    if (strncmp(key, "res_", PREFIX_LENGTH) == 0)
        return &rule->res;
    return strncmp(key, "max_", PREFIX_LENGTH) == 0 ? &rule->max : NULL;
}

/* ERROR_INVALID: it is not understood; ERROR_FULL: as much of it is taken as is allowed. */
static int apply_number_wish(const struct limits_rules *site, struct limits_rules *rules,
                             const char *word, struct error *err)
{
    size_t length = strcspn(word, "=");
    int type = find_type(word, length);
    uint32_t *number = type < LIMITS_COUNT ? find_number(&rules->of[type], word) : NULL;
    const char *digits = number && word[length] ? word + length + 1 : "";
    char *end;
    errno = 0;
    unsigned long value = strtoul(digits, &end, 10);
    if (!isdigit((unsigned char)digits[0]) || *end || errno || value > UINT16_MAX)
        return error_set(err, ERROR_INVALID,
                         "'%s' is not understood, the job goes without: def_, res_ or max_ and one "
                         "of txqs, tgqs, eqs, cts, tles, ptes, les, acs, = and a number up to "
                         "65535; or adjust_limits, or no_adjust_limits",
                         word);
    uint32_t most = site->of[type].max;
    *number = value < most ? (uint32_t)value : most;
    if (value <= most)
        return 0;
    return error_set(err, ERROR_FULL, "%s is too much, the job gets %u (node.conf: max_%s)", word,
                     most, limits_key((enum cxi_rsrc_type)type));
}

static int apply_wish(const struct limits_rules *site, struct limits_rules *rules,
                      bool *adjust_limits, const char *word, struct error *err)
{
    bool adjust = strcmp(word, "adjust_limits") == 0;
    if (!adjust && strcmp(word, "no_adjust_limits") != 0)
        return apply_number_wish(site, rules, word, err);
    *adjust_limits = adjust;
    return 0;
}

unsigned int wishes_take(struct limits_rules *rules, bool *adjust_limits, const char *text,
                         wishes_warn_fn *warn, void *arg)
{
    static const char between[] = " \t\r\n,";
    const struct limits_rules site = *rules;
    unsigned int wrong = 0;
    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        char word[WISH_SIZE];
        struct error err;
        size_t length = strcspn(text, between);
        /* One that is cut is none. */
        size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = '\0';
        if (kept < length)
            strcpy(word + kept - 3, "...");
        int rc = apply_wish(&site, rules, adjust_limits, word, &err);
        if (rc < 0)
            warn(arg, err.text);
        wrong += rc == ERROR_INVALID;
        text += length;
    }
    return wrong;
}
