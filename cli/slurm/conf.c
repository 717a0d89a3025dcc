#include "cli/slurm/conf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SPACE = ' ' };

struct value {
    char *key, *text; /* one block: key owns both */
};

struct slurmconf {
    size_t count;
    struct value at[SLURMCONF_MAX];
};

struct slurmconf *slurmconf_create(void)
{
    return calloc(1, sizeof(struct slurmconf));
}

void slurmconf_destroy(struct slurmconf *conf)
{
    for (size_t i = 0; conf && i < conf->count; i++)
        free(conf->at[i].key);
    free(conf);
}

static void add(struct slurmconf *conf, const char *key, size_t key_length, const char *text,
                size_t length)
{
    if (key_length == 0 || length == 0 || conf->count == SLURMCONF_MAX)
        return;
    char *block = malloc(key_length + length + 2);
    if (!block)
        return;
    memcpy(block, key, key_length);
    block[key_length] = '\0';
    memcpy(block + key_length + 1, text, length);
    block[key_length + 1 + length] = '\0';
    struct value *value = &conf->at[conf->count++];
    value->key = block;
    value->text = block + key_length + 1;
}

static bool is_blank(char letter)
{
    return letter == SPACE || letter == '\t' || letter == '\r';
}

/* ---- scontrol show config ---- */

static bool is_unset(const char *text, size_t length)
{
    static const char mark[] = "(null";
    return length >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0;
}

/* "Prolog[0]" is one of Prolog. */
static size_t without_number(const char *key, size_t length)
{
    const char *bracket = memchr(key, '[', length);
    return bracket && key[length - 1] == ']' ? (size_t)(bracket - key) : length;
}

static void take_shown_line(struct slurmconf *conf, const char *line, size_t length)
{
    const char *equals = memchr(line, '=', length);
    if (!equals)
        return;
    size_t key = (size_t)(equals - line);
    const char *text = equals + 1, *end = line + length;
    while (key > 0 && is_blank(line[key - 1]))
        key--;
    while (text < end && is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (key > 0 && !is_unset(text, (size_t)(end - text)))
        add(conf, line, without_number(line, key), text, (size_t)(end - text));
}

void slurmconf_take_shown(struct slurmconf *conf, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        take_shown_line(conf, text, length);
        text += length + (text[length] ? 1 : 0);
    }
}

/* ---- slurm.conf ---- */

/* Where the line ends, with those that a backslash joins to it; they become one in place. */
static char *join_lines(char *line)
{
    char *end = line;
    for (;;) {
        end += strcspn(end, "\n");
        char *last = end;
        while (last > line && last[-1] == '\r')
            last--;
        if (!*end || last == line || last[-1] != '\\')
            return end;
        memset(last - 1, SPACE, (size_t)(end - last) + 2);
    }
}

/* One key=value, or nothing; returns what follows it. */
static const char *take_word(struct slurmconf *conf, const char *at)
{
    const size_t key = strcspn(at, "= \t\r\"");
    const char *value = at + key;
    if (*value != '=')
        return *value ? value + 1 : value;
    value++;
    const bool quoted = *value == '"';
    value += quoted;
    const size_t length = strcspn(value, quoted ? "\"" : " \t\r");
    add(conf, at, key, value, length);
    value += length;
    return quoted && *value ? value + 1 : value;
}

static void take_line(struct slurmconf *conf, char *line)
{
    line[strcspn(line, "#")] = '\0';
    for (const char *at = line; *at;) {
        while (is_blank(*at))
            at++;
        if (*at)
            at = take_word(conf, at);
    }
}

void slurmconf_take_file(struct slurmconf *conf, const char *text)
{
    char *copy = strdup(text);
    for (char *line = copy; line && *line;) {
        char *end = join_lines(line);
        const bool more = *end != '\0';
        *end = '\0';
        take_line(conf, line);
        line = end + more;
    }
    free(copy);
}

/* ---- asking ---- */

const char *slurmconf_get(const struct slurmconf *conf, const char *key, size_t n)
{
    for (size_t i = 0; i < conf->count; i++) {
        if (strcasecmp(conf->at[i].key, key) == 0 && n-- == 0)
            return conf->at[i].text;
    }
    return NULL;
}

bool slurmconf_has(const struct slurmconf *conf, const char *key, const char *word)
{
    const size_t length = strlen(word);
    const char *value;
    for (size_t n = 0; (value = slurmconf_get(conf, key, n)); n++) {
        while (*value) {
            const size_t part = strcspn(value, ", \t");
            if (part == length && strncasecmp(value, word, length) == 0)
                return true;
            value += part + (value[part] ? 1 : 0);
        }
    }
    return false;
}
