/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/file.h"

#include "broker/config/value.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many faults in one file mean that it is the wrong file. */
enum { FAULTS_MAX = 20 };

/* One file being read. */
struct source {
    struct config_reading *reading;
    struct config_origin here;
    bool in_section;
    const char *section;          /* as the table names it; NULL: not known */
    uint32_t index;               /* in one with a name: which of its kind */
    const struct config_key *key; /* of the last pair, if it was good */
    bool after_pair;              /* there was one in this section */
};

void config_fault(struct config_reading *reading, bool is_fault, const struct config_origin *origin,
                  const char *format, ...)
{
    char words[ERROR_TEXT_SIZE * 2];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);

    unsigned file = origin && origin->file != 0 ? origin->file : 1;
    unsigned number = origin ? origin->line : 0;
    const char *path = reading->files[file - 1];
    char *line = number != 0 ? memory_format("%s:%u: %s", path, number, words)
                             : memory_format("%s: %s", path, words);
    for (char *at = line; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at))
            *at = '?';
    }
    reading->faults += is_fault;
    if (reading->report)
        reading->report(reading->arg, is_fault, line);
    free(line);
}

const struct config_origin *config_origin(const struct config_reading *reading, const char *section,
                                          const char *name)
{
    return &reading->origins[0][config_key_row(config_key_find(section, name))];
}

const struct config_origin *config_cluster_origin(const struct config_reading *reading,
                                                  uint32_t cluster, const char *name)
{
    return &reading->origins[1 + cluster][config_key_row(config_key_find("cluster", name))];
}

#define FAULT(source, ...) config_fault((source)->reading, true, &(source)->here, __VA_ARGS__)

/* ---- sections ---- */

const struct config_origin *config_profile_origin(const struct config_reading *reading,
                                                  uint32_t profile, const char *name)
{
    const size_t row = config_key_row(config_key_find("profile", name));
    return &reading->origins[1 + CLUSTERS_MAX + profile][row];
}

/* The name as the table has it, or NULL. */
static const char *find_plain_section(const char *name)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].section, name) == 0 && config_key_place(&keys[i]) == CONFIG_PLAIN)
            return keys[i].section;
    }
    return NULL;
}

static void enter_cluster(struct source *source, const char *name)
{
    struct config *config = source->reading->config;
    const struct config_cluster *known = config_cluster_find(config, name);
    uint32_t i = known ? (uint32_t)(known - config->clusters) : config->core.cluster_count;
    if (!cluster_name_valid(name)) {
        FAULT(source, "cluster \"%s\": allowed are 1 to %d of a-z, 0-9 and _", name,
              CLUSTER_NAME_MAX);
        return;
    }
    if (i == CLUSTERS_MAX) {
        FAULT(source, "cluster \"%s\" is one too many, at most %d are allowed", name, CLUSTERS_MAX);
        return;
    }
    if (!known) {
        config->core.cluster_count++;
        memcpy(config->clusters[i].name, name, strlen(name) + 1);
        source->reading->sections[i] = source->here;
    }
    source->index = i;
    source->section = "cluster";
}

static void enter_profile(struct source *source, const char *name)
{
    struct config *config = source->reading->config;
    const struct config_profile *known = config_profile_find(config, name);
    uint32_t i = known ? (uint32_t)(known - config->profiles) : config->core.profile_count;
    if (!profile_name_valid(name)) {
        FAULT(source, "profile \"%s\": allowed are 1 to %d of a-z, 0-9 and _", name,
              PROFILE_NAME_MAX);
        return;
    }
    if (i == PROFILES_MAX) {
        FAULT(source, "profile \"%s\" is one too many, at most %d are allowed", name, PROFILES_MAX);
        return;
    }
    if (!known) {
        config->core.profile_count++;
        memcpy(config->profiles[i].name, name, strlen(name) + 1);
    }
    source->index = i;
    source->section = "profile";
}

/* Where its name is, or NULL: it is no line such as [kind "NAME"]. */
static bool read_name(const char *line, const char *kind, char name[static 64])
{
    const size_t length = strlen(kind);
    int end = 0;
    return strncmp(line + 1, kind, length) == 0 &&
           sscanf(line + 1 + length, " \"%63[^\"]\"%n", name, &end) == 1 && end != 0 &&
           line[1 + length + (size_t)end] == '\0';
}

/* line: without the last bracket. */
static void report_unknown_section(struct source *source, const char *line)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    char similar[SUGGEST_SIZE];
    struct suggestion suggestion;
    const char *name = strchr(line, ' ');
    if (name && !strchr(name, '"') &&
        (strncmp(line, "[cluster ", 9) == 0 || strncmp(line, "[profile ", 9) == 0)) {
        FAULT(source, "there is no section %s]; did you mean %.*s\"%s\"]?", line,
              (int)(name + 1 - line), line, name + 1);
        return;
    }
    suggest_begin(&suggestion, line + 1);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0)
            suggest_try(&suggestion, keys[i].section);
    }
    FAULT(source,
          "there is no section %s]; there are [broker], [state], [fm], [hwcoll], [vni], "
          "[omnipath], [inventory], [traffic], [cluster \"NAME\"] and [profile \"NAME\"]%s",
          line, suggest_text(&suggestion, "", similar));
}

static void read_section(struct source *source, char *line)
{
    char *last = line + strlen(line) - 1, name[64];
    source->key = NULL;
    source->after_pair = false;
    source->in_section = true;
    source->section = NULL;
    if (*last != ']') {
        FAULT(source, "a section's line is [NAME], the ] is missing");
        return;
    }
    *last = '\0';
    source->section = find_plain_section(line + 1);
    if (read_name(line, "cluster", name))
        enter_cluster(source, name);
    else if (read_name(line, "profile", name))
        enter_profile(source, name);
    else if (!source->section)
        report_unknown_section(source, line);
}

/* ---- pairs ---- */

static void report_unknown_key(struct source *source, const char *name)
{
    size_t count, length = 0;
    const struct config_key *keys = config_keys(&count);
    char all[ERROR_TEXT_SIZE] = "", similar[SUGGEST_SIZE];
    struct suggestion suggestion;
    const char *of = NULL; /* another section that has it */
    suggest_begin(&suggestion, name);
    for (size_t i = 0; i < count && length < sizeof all; i++) {
        if (!of && strcmp(keys[i].name, name) == 0)
            of = keys[i].section;
        if (strcmp(keys[i].section, source->section) != 0)
            continue;
        suggest_try(&suggestion, keys[i].name);
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s",
                                   length != 0 ? ", " : "", keys[i].name);
    }
    suggest_text(&suggestion, "", similar);
    if (of)
        FAULT(source, "%s is a key of [%s], not of [%s]%s", name, of, source->section, similar);
    else if (similar[0])
        FAULT(source, "there is no key %s in [%s]%s", name, source->section, similar);
    else
        FAULT(source, "there is no key %s in [%s]; there are %s", name, source->section, all);
}

static void set_value(struct source *source, const struct config_key *key, const char *value,
                      bool more)
{
    struct config_reading *reading = source->reading;
    const enum config_place place = config_key_place(key);
    void *base = config_base(reading->config, place, source->index);
    const size_t begin[CONFIG_PLACES] = {0, 1, 1 + CLUSTERS_MAX};
    const size_t at = begin[place] + (place == CONFIG_PLAIN ? 0 : source->index);
    struct config_origin *origin = &reading->origins[at][config_key_row(key)];
    struct error err = {0};

    if (!more && origin->file == source->here.file) {
        FAULT(source, "%s is set twice, first in line %u", key->name, origin->line);
        return;
    }
    if (more && !config_value_is_list(key)) {
        FAULT(source, "an indented line goes on with %s, which is no list", key->name);
        return;
    }
    if (config_value_set(key, base, value, more, &err) < 0) {
        FAULT(source, "%s = %.80s: %s", key->name, value, err.text);
        return;
    }
    if (!more)
        *origin = source->here;
    source->key = key;
}

static char *cut_blanks(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text + strspn(text, " \t");
}

/* equals: where its = is. */
static void read_pair(struct source *source, char *line, char *equals)
{
    *equals = '\0';
    char *name = cut_blanks(line);
    source->after_pair = true;
    source->key = NULL;
    if (!source->in_section)
        FAULT(source, "%s stands before the first section", name);
    if (!source->section)
        return; /* reported already */
    const struct config_key *key = config_key_find(source->section, name);
    if (!key)
        report_unknown_key(source, name);
    else
        set_value(source, key, cut_blanks(equals + 1), false);
}

/* ---- lines ---- */

static void read_line(struct source *source, char *line)
{
    /* A comment begins with ';' after a blank. */
    for (char *at = line; *at != '\0'; at++) {
        if (*at == ';' && (at == line || isblank((unsigned char)at[-1]))) {
            *at = '\0';
            break;
        }
    }
    char *start = cut_blanks(line);
    bool indented = start > line;
    if (*start == '\0' || *start == '#')
        return;
    if (*start == '[') {
        read_section(source, start);
        return;
    }
    char *equals = strchr(start, '=');
    if (!equals && !(indented && source->after_pair))
        FAULT(source, "neither a section nor a comment nor \"key = value\": the = is missing");
    else if (equals == start)
        FAULT(source, "there is no key before the =");
    else if (equals)
        read_pair(source, start, equals);
    else if (source->key)
        set_value(source, source->key, start, true);
}

/* False: given up. */
static bool read_lines(struct source *source, FILE *file)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf"; /* some editors write one */
    const unsigned faults_before = source->reading->faults;
    char *text = NULL;
    size_t size = 0;
    bool given_up = false;
    for (ssize_t length; !given_up && (length = getline(&text, &size, file)) >= 0;) {
        bool marked = ++source->here.line == 1 && strncmp(text, byte_order_mark, 3) == 0;
        if (memchr(text, '\0', (size_t)length))
            FAULT(source, "a NUL byte: this is no text file");
        else
            read_line(source, text + (marked ? 3 : 0));
        given_up = source->reading->faults - faults_before >= FAULTS_MAX;
    }
    if (given_up)
        FAULT(source, "%d faults: the rest of this file was not read", FAULTS_MAX);
    free(text);
    return !given_up;
}

static void cannot_open(struct config_reading *reading, const struct config_origin *here, int code)
{
    if (code == ENOENT && here->file == 1)
        config_fault(reading, true, here,
                     "cannot be read: %s; `mcastd --sample-config` prints one to begin with",
                     strerror(code));
    else if (code == EACCES)
        config_fault(reading, true, here,
                     "cannot be read: %s; uid %ju, as which mcastd runs, must be able to: chmod "
                     "0644, or chgrp and 0640 (it holds no secrets)",
                     strerror(code), (uintmax_t)geteuid());
    else
        config_fault(reading, true, here, "cannot be read: %s", strerror(code));
}

bool config_file_read(struct config_reading *reading, const char *path)
{
    struct source source = {.reading = reading};
    struct stat status;
    if (reading->file_count == CONFIG_FILES_MAX) {
        config_fault(reading, true, NULL, "more than %d files", CONFIG_FILES_MAX);
        return false;
    }
    reading->files[reading->file_count] = memory_text(path);
    source.here.file = ++reading->file_count;
    FILE *file = fopen(path, "re");
    if (!file) {
        cannot_open(reading, &source.here, errno);
        return false;
    }
    bool folder = fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode);
    if (folder)
        FAULT(&source, "is a folder: name the file in it, as in --config %s/mcastd.conf", path);
    bool whole = !folder && read_lines(&source, file);
    if (!folder && ferror(file) != 0) {
        FAULT(&source, "cannot be read on: %s; look at its disk", strerror(errno));
        whole = false;
    }
    fclose(file);
    return whole;
}
