/* SPDX-License-Identifier: Apache-2.0 */
/* What one job wants of the NICs (node/settings.h), as users write it: two bytes make the
 * site's maximum of one resource, the rest are the words. What becomes of them is worked out a
 * second time here. */

#include "node/settings.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void warn(void *arg, const char *sentence)
{
    unsigned int *warned = arg;
    FUZZ_CHECK(strstr(sentence, "the job ") && !strchr(sentence, '\n')); /* a log has lines */
    ++*warned;
}

/* The last number that stands behind the key, as far as it is allowed. */
static uint32_t by_hand(const char *text, const char *key, uint32_t initial, uint32_t most)
{
    uint32_t value = initial;
    if (!strstr(text, key))
        return value;
    char *copy = strdup(text), *rest = copy;
    for (char *word; (word = strsep(&rest, " \t\r\n,"));) {
        size_t length = strlen(key), digits;
        if (strncmp(word, key, length) != 0 || word[length] != '=')
            continue;
        digits = strspn(word + length + 1, "0123456789");
        unsigned long number = strtoul(word + length + 1, NULL, 10);
        if (digits > 0 && !word[length + 1 + digits] && number <= UINT16_MAX && strlen(word) < 64)
            value = number < most ? (uint32_t)number : most;
    }
    free(copy);
    return value;
}

static void check(const char *text, const struct limits_rules *site,
                  const struct limits_rules *rules)
{
    for (int i = 0; i < LIMITS_COUNT; i++) {
        const struct limits_resource *resource = &limits_resources[i];
        const struct limits_rule *was = &site->of[resource->type], *is = &rules->of[resource->type];
        char key[16];
        snprintf(key, sizeof key, "def_%s", resource->key);
        FUZZ_CHECK(is->def == by_hand(text, key, was->def, was->max));
        memcpy(key, "res_", 4);
        FUZZ_CHECK(is->res == by_hand(text, key, was->res, was->max));
        memcpy(key, "max_", 4);
        FUZZ_CHECK(is->max == by_hand(text, key, was->max, was->max));
    }
}

void fuzz_one(struct fuzz_input *in)
{
    static struct settings initial; /* the defaults take longer than most inputs */
    unsigned int warned = 0;
    if (!initial.spool[0])
        settings_init(&initial);
    struct settings settings = initial;
    uint8_t type = fuzz_byte(in) % LIMITS_COUNT;
    settings.limits.of[type].max = 257U * fuzz_byte(in);
    const struct settings before = settings;
    char *text = fuzz_rest(in);
    settings_apply_job_limits(&settings, text, warn, &warned);
    FUZZ_CHECK(settings.adjust_limits || strstr(text, "no_adjust_limits"));
    check(text, &before.limits, &settings.limits);
    settings.adjust_limits = before.adjust_limits;
    settings.limits = before.limits;
    /* Nothing else is changed. Padding is that of a zeroed struct in both. */
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    FUZZ_CHECK(memcmp(&settings, &before, sizeof before) == 0);
    free(text);
}
