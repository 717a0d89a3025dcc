/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/value.h"

#include "core/config.h"
#include "base/duration.h"
#include "base/idset.h"
#include "base/memory.h"
#include "core/reservation/record.h"
#include "fmapi/wire/baseurl.h"

#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is allowed ---- */

static void words_allowed(const char *words, char *out, size_t size)
{
    size_t length = 0;
    for (const char *word = words; *word != '\0';) {
        size_t take = strcspn(word, "|");
        const char *next = word + take + (word[take] == '|');
        const char *before = word == words ? "" : *next == '\0' ? " or " : ", ";
        int n = snprintf(out + length, size - length, "%s%.*s", before, (int)take, word);
        assert(n > 0 && (size_t)n < size - length);
        length += (size_t)n;
        word = next;
    }
}

static void durations_allowed(const struct config_key *key, char *out, size_t size)
{
    char least[32], most[32];
    duration_format(least, sizeof least, key->min);
    duration_format(most, sizeof most, key->max);
    (void)snprintf(out, size, "%s%sa duration of %s to %s, with one of the units ms, s, m, h, d",
                   key->words != NULL ? key->words : "", key->words != NULL ? ", or " : "", least,
                   most);
}

#define URL_FORM "http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH]"

void config_value_allowed(const struct config_key *key, char *out, size_t size)
{
    static const char *const fixed[] = {
        [CONFIG_TEXT] = "a word",
        [CONFIG_PATH] = "an absolute path",
        [CONFIG_URL] = URL_FORM,
        [CONFIG_LISTEN] = "ADDRESS:PORT, [IPV6-ADDRESS]:PORT or localhost:PORT",
        [CONFIG_JOB_CA] = "auto, yes, no or an absolute path",
        [CONFIG_MODE] = "an octal file mode, 0600 to 0777",
        [CONFIG_BOOL] = "yes or no",
        [CONFIG_CLASSES] = "one or more of best_effort, low_latency, bulk_data, dedicated_access, "
                           "separated by blanks or commas",
        [CONFIG_IDSET] = "ids and ranges of 0 to 65535, as in 1024-2047,4096",
        [CONFIG_USERS] = "user names or numeric uids, separated by blanks or commas",
        [CONFIG_COMMAND] = "an absolute path and its arguments, separated by blanks; no quotes, no "
                           "shell",
    };
    switch (key->type) {
    case CONFIG_URLS:
        (void)snprintf(out, size, "1 to %d of " URL_FORM ", separated by blanks", FM_URLS_MAX);
        break;
    case CONFIG_NUMBER:
    case CONFIG_AUTO:
        (void)snprintf(out, size, "%sa number of %" PRId64 " to %" PRId64,
                       key->type == CONFIG_AUTO ? "auto, or " : "", key->min, key->max);
        break;
    case CONFIG_DURATION:
        durations_allowed(key, out, size);
        break;
    case CONFIG_CHOICE:
        words_allowed(key->words, out, size);
        break;
    default:
        (void)snprintf(out, size, "%s", fixed[key->type]);
    }
}

static int not_allowed(const struct config_key *key, struct error *err)
{
    char allowed[CONFIG_ALLOWED_SIZE];
    config_value_allowed(key, allowed, sizeof allowed);
    return error_set(err, ERROR_INVALID, "allowed is %s", allowed);
}

/* ---- the types ---- */

static int set_text(const struct config_key *key, char *value, const char *text, struct error *err)
{
    size_t length = strlen(text);
    if (length >= key->size)
        return error_set(err, ERROR_INVALID, "%zu bytes are too long, at most %zu are allowed",
                         length, key->size - 1);
    memcpy(value, text, length + 1);
    return 0;
}

static int set_url(char value[FM_URL_SIZE], const char *text, struct error *err)
{
    char *url = baseurl_create(text, err);
    int rc = 0;
    if (url == NULL)
        return ERROR_INVALID;
    if (strlen(url) >= FM_URL_SIZE)
        rc = error_set(err, ERROR_INVALID, "a URL is longer than %d bytes", FM_URL_SIZE - 1);
    else
        strcpy(value, url);
    free(url);
    return rc;
}

static int add_url(char urls[FM_URLS_MAX][FM_URL_SIZE], const char *text, struct error *err)
{
    size_t count = 0;
    while (count < FM_URLS_MAX && urls[count][0] != '\0')
        count++;
    return count < FM_URLS_MAX ? set_url(urls[count], text, err)
                               : error_set(err, ERROR_INVALID, "more than %d URLs", FM_URLS_MAX);
}

static int set_urls(char (*value)[FM_URL_SIZE], const char *text, bool more, struct error *err)
{
    static const char between[] = " \t,";
    char urls[FM_URLS_MAX][FM_URL_SIZE] = {""}, one[FM_URL_SIZE * 2];
    if (more)
        memcpy(urls, value, sizeof urls);
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        size_t take = strcspn(text, between);
        if (take >= sizeof one)
            return error_set(err, ERROR_INVALID, "a URL is longer than %d bytes", FM_URL_SIZE - 1);
        memcpy(one, text, take);
        one[take] = '\0';
        int rc = add_url(urls, one, err);
        if (rc < 0)
            return rc;
        text += take;
    }
    memcpy(value, urls, sizeof urls);
    return 0;
}

/* Names are not looked up: what they stand for may change. */
static bool is_address(char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    size_t length = strlen(host);
    if (strcmp(host, "localhost") == 0 || inet_pton(AF_INET, host, address) == 1)
        return true;
    if (length < 2 || host[0] != '[' || host[length - 1] != ']')
        return false;
    host[length - 1] = '\0';
    return inet_pton(AF_INET6, host + 1, address) == 1;
}

/* The digits that text begins with, as a number of at most max; -1: there are none, or it is more.
 * *end is behind them. */
static int64_t leading_number(const char *text, int64_t max, const char **end)
{
    int64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (*at - '0');
        if (value > max)
            return -1;
    }
    *end = at;
    return at == text ? -1 : value;
}

static int set_listen(const struct config_key *key, char *value, const char *text,
                      struct error *err)
{
    char host[256];
    const char *colon = strrchr(text, ':'), *end = "";
    if (colon == NULL || (size_t)(colon - text) >= sizeof host ||
        leading_number(colon + 1, 65535, &end) < 0 || *end != '\0')
        return not_allowed(key, err);
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    return is_address(host) ? set_text(key, value, text, err) : not_allowed(key, err);
}

static int set_number(const struct config_key *key, uint32_t *value, const char *text,
                      struct error *err)
{
    const char *end = "";
    int64_t number = leading_number(text, key->max, &end);
    if (number < key->min || *end != '\0')
        return not_allowed(key, err);
    *value = (uint32_t)number;
    return 0;
}

static int set_mode(const struct config_key *key, uint32_t *value, const char *text,
                    struct error *err)
{
    size_t length = strlen(text);
    if (length < 3 || length > 4 || strspn(text, "01234567") != length)
        return not_allowed(key, err);
    unsigned long mode = strtoul(text, NULL, 8);
    if (mode < 0600 || mode > 0777)
        return not_allowed(key, err);
    *value = (uint32_t)mode;
    return 0;
}

static int set_duration(const struct config_key *key, int64_t *value, const char *text,
                        struct error *err)
{
    int64_t ms = duration_parse(text, DURATION_DAYS | DURATION_BARE_ZERO, key->max);
    if (key->words != NULL && strcmp(text, key->words) == 0) {
        *value = -1;
        return 0;
    }
    if (ms < key->min)
        return not_allowed(key, err);
    *value = ms;
    return 0;
}

static int set_bool(const struct config_key *key, bool *value, const char *text, struct error *err)
{
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return not_allowed(key, err);
    *value = text[0] == 'y';
    return 0;
}

static int set_choice(const struct config_key *key, int *value, const char *text, struct error *err)
{
    int index = 0;
    for (const char *word = key->words; *word != '\0'; index++) {
        size_t take = strcspn(word, "|");
        if (strlen(text) == take && memcmp(word, text, take) == 0) {
            *value = (int)key->min + index;
            return 0;
        }
        word += take + (word[take] == '|');
    }
    return not_allowed(key, err);
}

static int set_classes(const struct config_key *key, uint32_t *value, const char *text,
                       struct error *err)
{
    static const char between[] = " \t,";
    uint32_t bits = 0;
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        char word[32];
        size_t take = strcspn(text, between);
        int n = snprintf(word, sizeof word, "%.*s", (int)take, text);
        int bit = n > 0 && (size_t)n < sizeof word ? traffic_class_from_word(word) : 0;
        if (bit == 0)
            return not_allowed(key, err);
        bits |= (uint32_t)bit;
        text += take;
    }
    if (bits == 0)
        return not_allowed(key, err);
    *value = bits;
    return 0;
}

static int set_idset(struct idset *value, const char *text, bool more, struct error *err)
{
    struct idset set;
    char piece[IDSET_TEXT_MAX];
    /* A list that goes on may end its line with a comma. */
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ',')
        length--;
    if (length >= sizeof piece)
        return error_set(err, ERROR_INVALID, "longer than %d bytes", IDSET_TEXT_MAX - 1);
    memcpy(piece, text, length);
    piece[length] = '\0';

    idset_init(&set);
    int rc = idset_parse(&set, piece, err);
    if (rc < 0)
        return rc;
    if (more) {
        for (uint32_t id = 0; id <= UINT16_MAX; id++) {
            if (idset_has(value, (uint16_t)id))
                idset_add(&set, (uint16_t)id);
        }
    }
    *value = set;
    return 0;
}

static void clear_words(char ***value)
{
    config_words_destroy(*value);
    *value = NULL;
}

static int set_users(char ***value, const char *text, bool more)
{
    if (!more) {
        clear_words(value);
        *value = memory_zeroed(sizeof **value);
    }
    config_words_add(value, text, " \t,");
    return 0;
}

/* No shell reads it, so that what a shell would take for more than letters is a mistake. */
static int set_command(const struct config_key *key, char ***value, const char *text,
                       struct error *err)
{
    static const char shells[] = "\"'\\`$|&;<>";
    if (text[0] != '/')
        return not_allowed(key, err);
    if (strpbrk(text, shells) != NULL)
        return error_set(err, ERROR_INVALID,
                         "no shell reads it: none of %s is allowed; what needs them goes into a "
                         "script",
                         shells);
    clear_words(value);
    config_words_add(value, text, " \t");
    return 0;
}

int config_value_set(const struct config_key *key, void *base, const char *text, bool more,
                     struct error *err)
{
    void *value = (char *)base + key->offset;
    if (*text == '\0' && key->type != CONFIG_USERS) {
        if (key->initial != NULL)
            return not_allowed(key, err);
        if (key->type == CONFIG_COMMAND)
            clear_words(value);
        else
            memset(value, 0, key->size);
        return 0;
    }
    switch (key->type) {
    case CONFIG_TEXT:
        return strpbrk(text, " \t") != NULL ? not_allowed(key, err)
                                            : set_text(key, value, text, err);
    case CONFIG_PATH:
        return text[0] != '/' ? not_allowed(key, err) : set_text(key, value, text, err);
    case CONFIG_JOB_CA:
        if (text[0] != '/' && strcmp(text, "auto") != 0 && strcmp(text, "yes") != 0 &&
            strcmp(text, "no") != 0)
            return not_allowed(key, err);
        return set_text(key, value, text, err);
    case CONFIG_URL:
        return set_url(value, text, err);
    case CONFIG_URLS:
        return set_urls(value, text, more, err);
    case CONFIG_LISTEN:
        return set_listen(key, value, text, err);
    case CONFIG_AUTO:
        if (strcmp(text, "auto") == 0) {
            *(uint32_t *)value = 0;
            return 0;
        }
        return set_number(key, value, text, err);
    case CONFIG_NUMBER:
        return set_number(key, value, text, err);
    case CONFIG_MODE:
        return set_mode(key, value, text, err);
    case CONFIG_DURATION:
        return set_duration(key, value, text, err);
    case CONFIG_BOOL:
        return set_bool(key, value, text, err);
    case CONFIG_CHOICE:
        return set_choice(key, value, text, err);
    case CONFIG_CLASSES:
        return set_classes(key, value, text, err);
    case CONFIG_IDSET:
        return set_idset(value, text, more, err);
    case CONFIG_USERS:
        return set_users(value, text, more);
    case CONFIG_COMMAND:
        return set_command(key, value, text, err);
    }
    return not_allowed(key, err);
}

bool config_value_is_list(const struct config_key *key)
{
    return key->type == CONFIG_IDSET || key->type == CONFIG_USERS || key->type == CONFIG_URLS;
}
