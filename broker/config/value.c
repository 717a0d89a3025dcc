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
#include <stdlib.h>
#include <string.h>

#define URL_FORM "http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH]"

static const char between_items[] = " \t,";

/* A value of a key, and what it is to be set to. */
struct setting {
    const struct config_key *key;
    void *value;
    const char *text;
    bool more;
    struct error *err;
};

static int not_allowed(const struct setting *s)
{
    char allowed[CONFIG_ALLOWED_SIZE];
    config_value_allowed(s->key, allowed, sizeof allowed);
    return error_set(s->err, ERROR_INVALID, "allowed is %s", allowed);
}

/* ---- lists of words ---- */

/* Appends the words in text, which any number of the bytes in `between` keep apart. */
static void add_words(char ***words, const char *text, const char *between)
{
    size_t count = 0;
    while (*words && (*words)[count])
        count++;
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        size_t length = strcspn(text, between);
        char *word = memory_zeroed(length + 1);
        memcpy(word, text, length);
        *words = memory_resized(*words, count + 2, sizeof **words);
        (*words)[count++] = word;
        (*words)[count] = NULL;
        text += length;
    }
}

void config_words_destroy(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static void clear_words(char ***words)
{
    config_words_destroy(*words);
    *words = NULL;
}

static void print_words(FILE *out, const struct setting *s)
{
    char *const *words = *(char *const *const *)s->value;
    for (size_t i = 0; words && words[i]; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
}

static int set_users(const struct setting *s)
{
    char ***words = s->value;
    if (!s->more) {
        clear_words(words);
        *words = memory_zeroed(sizeof **words);
    }
    add_words(words, s->text, between_items);
    return 0;
}

/* No shell reads it, so that what a shell would take for more than letters is a mistake. */
static int set_command(const struct setting *s)
{
    static const char shells[] = "\"'\\`$|&;<>";
    if (s->text[0] != '/')
        return not_allowed(s);
    if (strpbrk(s->text, shells))
        return error_set(s->err, ERROR_INVALID,
                         "no shell reads it: none of %s is allowed; what needs them goes into a "
                         "script",
                         shells);
    clear_words(s->value);
    add_words(s->value, s->text, " \t");
    return 0;
}

/* ---- texts ---- */

static void print_text(FILE *out, const struct setting *s)
{
    fputs(s->value, out);
}

static int copy_text(const struct setting *s)
{
    size_t length = strlen(s->text);
    if (length >= s->key->size)
        return error_set(s->err, ERROR_INVALID, "%zu bytes are too long, at most %zu are allowed",
                         length, s->key->size - 1);
    memcpy(s->value, s->text, length + 1);
    return 0;
}

static int set_word(const struct setting *s)
{
    return strpbrk(s->text, " \t") ? not_allowed(s) : copy_text(s);
}

static int set_path(const struct setting *s)
{
    return s->text[0] != '/' ? not_allowed(s) : copy_text(s);
}

/* -1: it is none of the words. */
static int index_of_word(const char *const *words, const char *text)
{
    int index = 0;
    while (words[index] && strcmp(words[index], text) != 0)
        index++;
    return words[index] ? index : -1;
}

static int set_job_ca(const struct setting *s)
{
    static const char *const words[] = {"auto", "yes", "no", NULL};
    return index_of_word(words, s->text) < 0 ? set_path(s) : copy_text(s);
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

/* -1: text is no decimal number, or more than max. */
static int64_t number_of(const char *text, int64_t max)
{
    int64_t value = 0;
    if (*text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        value = value * 10 + (*text - '0');
        if (value > max)
            return -1;
    }
    return value;
}

static int set_listen(const struct setting *s)
{
    char host[256];
    const char *colon = strrchr(s->text, ':');
    if (!colon || (size_t)(colon - s->text) >= sizeof host || number_of(colon + 1, 65535) < 0)
        return not_allowed(s);
    memcpy(host, s->text, (size_t)(colon - s->text));
    host[colon - s->text] = '\0';
    return is_address(host) ? copy_text(s) : not_allowed(s);
}

static int set_url(char value[FM_URL_SIZE], const char *text, struct error *err)
{
    char *url = baseurl_create(text, err);
    int rc = 0;
    if (!url)
        return ERROR_INVALID;
    if (strlen(url) >= FM_URL_SIZE)
        rc = error_set(err, ERROR_INVALID, "a URL is longer than %d bytes", FM_URL_SIZE - 1);
    else
        strcpy(value, url);
    free(url);
    return rc;
}

static int set_urls(const struct setting *s)
{
    const size_t max = s->key->size / FM_URL_SIZE;
    char(*urls)[FM_URL_SIZE] = memory_zeroed(s->key->size), **words = NULL;
    size_t count = 0;
    int rc = 0;
    if (s->more)
        memcpy(urls, s->value, s->key->size);
    while (count < max && urls[count][0] != '\0')
        count++;
    add_words(&words, s->text, between_items);
    for (char **word = words; rc == 0 && word && *word; word++, count++)
        rc = count < max ? set_url(urls[count], *word, s->err)
                         : error_set(s->err, ERROR_INVALID, "more than %zu URLs", max);
    if (rc == 0)
        memcpy(s->value, urls, s->key->size);
    config_words_destroy(words);
    free(urls);
    return rc;
}

static void print_urls(FILE *out, const struct setting *s)
{
    const char(*urls)[FM_URL_SIZE] = s->value;
    for (size_t i = 0; i < s->key->size / FM_URL_SIZE && urls[i][0] != '\0'; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", urls[i]);
}

/* ---- numbers ---- */

static int set_number(const struct setting *s)
{
    int64_t number = number_of(s->text, s->key->max);
    if (s->key->word && strcmp(s->text, s->key->word) == 0)
        number = 0;
    else if (number < s->key->min)
        return not_allowed(s);
    *(uint32_t *)s->value = (uint32_t)number;
    return 0;
}

static void print_number(FILE *out, const struct setting *s)
{
    const uint32_t number = *(const uint32_t *)s->value;
    if (number != 0 || s->key->min == 0)
        fprintf(out, "%" PRIu32, number);
    else if (s->key->word)
        fputs(s->key->word, out);
}

static int set_mode(const struct setting *s)
{
    size_t length = strlen(s->text);
    if (length < 3 || length > 4 || strspn(s->text, "01234567") != length)
        return not_allowed(s);
    unsigned long mode = strtoul(s->text, NULL, 8);
    if (mode < 0600 || mode > 0777)
        return not_allowed(s);
    *(uint32_t *)s->value = (uint32_t)mode;
    return 0;
}

static void print_mode(FILE *out, const struct setting *s)
{
    fprintf(out, "%04" PRIo32, *(const uint32_t *)s->value);
}

static int set_duration(const struct setting *s)
{
    const struct config_key *key = s->key;
    int64_t ms = duration_parse(s->text, DURATION_DAYS | DURATION_BARE_ZERO, key->max);
    if (key->word && strcmp(s->text, key->word) == 0)
        ms = -1;
    else if (ms < key->min)
        return not_allowed(s);
    *(int64_t *)s->value = ms;
    return 0;
}

static void print_duration(FILE *out, const struct setting *s)
{
    char text[32];
    int64_t ms = *(const int64_t *)s->value;
    assert(ms >= 0 || s->key->word);
    if (ms >= 0)
        duration_format(text, sizeof text, ms);
    fputs(ms >= 0 ? text : s->key->word, out);
}

/* ---- words that stand for values ---- */

static const char *const no_yes[] = {"no", "yes", NULL};

static int set_bool(const struct setting *s)
{
    int index = index_of_word(no_yes, s->text);
    if (index < 0)
        return not_allowed(s);
    *(bool *)s->value = index == 1;
    return 0;
}

static void print_bool(FILE *out, const struct setting *s)
{
    fputs(no_yes[*(const bool *)s->value], out);
}

static int set_choice(const struct setting *s)
{
    int index = index_of_word(s->key->choices, s->text);
    if (index < 0)
        return not_allowed(s);
    *(int *)s->value = (int)s->key->min + index;
    return 0;
}

static void print_choice(FILE *out, const struct setting *s)
{
    fputs(s->key->choices[*(const int *)s->value - (int)s->key->min], out);
}

static int set_classes(const struct setting *s)
{
    uint32_t bits = 0;
    char **words = NULL;
    bool known = true;
    add_words(&words, s->text, between_items);
    for (char **word = words; word && *word; word++) {
        int bit = traffic_class_from_word(*word);
        known = known && bit != 0;
        bits |= (uint32_t)bit;
    }
    config_words_destroy(words);
    if (!known || bits == 0)
        return not_allowed(s);
    *(uint32_t *)s->value = bits;
    return 0;
}

/* The usual ones first. */
static void print_classes(FILE *out, const struct setting *s)
{
    static const enum traffic_class order[] = {TC_BEST_EFFORT, TC_LOW_LATENCY, TC_BULK_DATA,
                                               TC_DEDICATED_ACCESS};
    const char *before = "";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if ((*(const uint32_t *)s->value & order[i]) == 0)
            continue;
        fprintf(out, "%s%s", before, traffic_class_word((int)order[i]));
        before = " ";
    }
}

/* ---- ids ---- */

static int set_idset(const struct setting *s)
{
    struct idset set, *value = s->value;
    /* A list that goes on may end its line with a comma. */
    size_t length = strlen(s->text);
    while (length > 0 && s->text[length - 1] == ',')
        length--;
    char *piece = memory_format("%.*s", (int)length, s->text);
    idset_init(&set);
    int rc = idset_parse(&set, piece, s->err);
    free(piece);
    if (rc < 0)
        return rc;
    for (uint32_t id = 0; s->more && id <= UINT16_MAX; id++) {
        if (idset_has(value, (uint16_t)id))
            idset_add(&set, (uint16_t)id);
    }
    *value = set;
    return 0;
}

static void print_idset(FILE *out, const struct setting *s)
{
    idset_print(out, s->value);
}

/* ---- the types ---- */

static const struct {
    int (*set)(const struct setting *setting);
    void (*print)(FILE *out, const struct setting *setting);
    const char *allowed; /* NULL: it depends on the key */
} types[] = {
    [CONFIG_TEXT] = {set_word, print_text, "a word"},
    [CONFIG_SENTENCE] = {copy_text, print_text, "a sentence"},
    [CONFIG_PATH] = {set_path, print_text, "an absolute path"},
    [CONFIG_URL] = {set_urls, print_urls, NULL},
    [CONFIG_LISTEN] = {set_listen, print_text,
                       "ADDRESS:PORT, [IPV6-ADDRESS]:PORT or localhost:PORT"},
    [CONFIG_JOB_CA] = {set_job_ca, print_text, "auto, yes, no or an absolute path"},
    [CONFIG_NUMBER] = {set_number, print_number, NULL},
    [CONFIG_MODE] = {set_mode, print_mode, "an octal file mode, 0600 to 0777"},
    [CONFIG_DURATION] = {set_duration, print_duration, NULL},
    [CONFIG_BOOL] = {set_bool, print_bool, "yes or no"},
    [CONFIG_CHOICE] = {set_choice, print_choice, NULL},
    [CONFIG_CLASSES] = {set_classes, print_classes,
                        "one or more of best_effort, low_latency, bulk_data, dedicated_access, "
                        "separated by blanks or commas"},
    [CONFIG_IDSET] = {set_idset, print_idset, "ids and ranges of 0 to 65535, as in 1024-2047,4096"},
    [CONFIG_USERS] = {set_users, print_words,
                      "user names or numeric uids, separated by blanks or commas"},
    [CONFIG_COMMAND] = {set_command, print_words,
                        "an absolute path and its arguments, separated by blanks; no quotes, no "
                        "shell"},
    [CONFIG_NAMES] = {set_users, print_words, "names, separated by blanks or commas"},
};

void config_value_allowed(const struct config_key *key, char *out, size_t size)
{
    char least[32], most[32];
    FILE *file = fmemopen(out, size, "w");
    if (!file)
        abort(); /* without memory, as base/memory.h */
    if (key->word)
        fprintf(file, "%s, or ", key->word);
    switch (key->type) {
    case CONFIG_URL:
        if (key->size > FM_URL_SIZE)
            fprintf(file, "1 to %zu of " URL_FORM ", separated by blanks", key->size / FM_URL_SIZE);
        else
            fputs(URL_FORM, file);
        break;
    case CONFIG_NUMBER:
        fprintf(file, "a number of %" PRId64 " to %" PRId64, key->min, key->max);
        break;
    case CONFIG_DURATION:
        duration_format(least, sizeof least, key->min);
        duration_format(most, sizeof most, key->max);
        fprintf(file, "a duration of %s to %s, with one of the units ms, s, m, h, d", least, most);
        break;
    case CONFIG_CHOICE:
        for (const char *const *word = key->choices; *word; word++)
            fprintf(file, "%s%s", word == key->choices ? "" : word[1] ? ", " : " or ", *word);
        break;
    default:
        fputs(types[key->type].allowed, file);
    }
    (void)fclose(file);
}

int config_value_set(const struct config_key *key, void *base, const char *text, bool more,
                     struct error *err)
{
    const struct setting setting = {key, (char *)base + key->offset, text, more, err};
    if (*text != '\0' || key->type == CONFIG_USERS)
        return types[key->type].set(&setting);
    if (key->initial)
        return not_allowed(&setting);
    if (key->type == CONFIG_COMMAND || key->type == CONFIG_NAMES)
        clear_words(setting.value);
    else
        memset(setting.value, 0, key->size);
    return 0;
}

char *config_value_text(const struct config_key *key, const void *base)
{
    const struct setting shown = {.key = key, .value = (char *)(uintptr_t)base + key->offset};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out)
        types[key->type].print(out, &shown);
    if (!out || fclose(out) != 0)
        abort(); /* without memory, as base/memory.h */
    if (length > 0)
        return text;
    free(text);
    return memory_text("unset");
}

bool config_value_is_list(const struct config_key *key)
{
    return key->type == CONFIG_IDSET || key->type == CONFIG_USERS || key->type == CONFIG_NAMES ||
           (key->type == CONFIG_URL && key->size > FM_URL_SIZE);
}
