/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/file.h"

#include "broker/config/value.h"
#include "base/memory.h"
#include "base/names.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* inih's line buffer, of which it needs three bytes for itself. */
enum { LINE_MAX_BYTES = 197 };

/* So many faults in one file mean that it is the wrong file. */
enum { FAULTS_MAX = 20 };

enum section { SECTION_NONE, SECTION_UNKNOWN, SECTION_PLAIN, SECTION_CLUSTER };

/* One file being read. inih splits lines into names and values; it knows neither where it is nor
 * more than the first thing that is wrong, so the lines come to it through next_line, which counts
 * them, keeps what is not well formed to itself, and knows the section. */
struct source {
    struct config_reading *reading;
    FILE *file;
    char *text; /* the line as it is */
    size_t text_size;
    struct config_origin here;
    enum section section;
    char section_name[CLUSTER_NAME_MAX + 1];
    uint32_t cluster;             /* SECTION_CLUSTER: its index */
    const struct config_key *key; /* of the last pair, if it was good */
    bool after_pair, continuing;  /* a pair came before; this line continues its value */
    unsigned faults_before;       /* in other files */
    bool given_up;
};

void config_fault(struct config_reading *reading, bool is_fault, const struct config_origin *origin,
                  const char *format, ...)
{
    char words[ERROR_TEXT_SIZE * 2], line[sizeof words + CONFIG_PATH_SIZE + 32];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);

    unsigned file = origin != NULL && origin->file != 0 ? origin->file : 1;
    unsigned number = origin != NULL ? origin->line : 0;
    if (number != 0)
        (void)snprintf(line, sizeof line, "%s:%u: %s", reading->files[file - 1], number, words);
    else
        (void)snprintf(line, sizeof line, "%s: %s", reading->files[file - 1], words);
    for (char *at = line; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at))
            *at = '?';
    }
    reading->faults += is_fault;
    reading->report(reading->arg, is_fault, line);
}

static ptrdiff_t row_of(const char *section, const char *name)
{
    size_t count;
    return config_key_find(section, name) - config_keys(&count);
}

const struct config_origin *config_origin(const struct config_reading *reading, const char *section,
                                          const char *name)
{
    return &reading->origins[row_of(section, name)];
}

const struct config_origin *config_cluster_origin(const struct config_reading *reading,
                                                  uint32_t cluster, const char *name)
{
    return &reading->cluster_origins[cluster][row_of("cluster", name)];
}

#define FAULT(source, ...) config_fault((source)->reading, true, &(source)->here, __VA_ARGS__)

/* ---- names that are nearly right ---- */

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* How many letters must be changed, added or left out to make one of the other (Levenshtein). */
static size_t distance(const char *one, const char *other)
{
    enum { LONGEST = 48 };
    size_t row[LONGEST + 1], width = strlen(other), height = strlen(one);
    if (width > LONGEST || height > LONGEST)
        return LONGEST;
    for (size_t x = 0; x <= width; x++)
        row[x] = x;
    for (size_t y = 1; y <= height; y++) {
        size_t diagonal = row[0];
        row[0] = y;
        for (size_t x = 1; x <= width; x++) {
            size_t above = row[x];
            row[x] = smallest(above + 1, row[x - 1] + 1, diagonal + (one[y - 1] != other[x - 1]));
            diagonal = above;
        }
    }
    return row[width];
}

static const struct config_key *nearest_key(const char *section, const char *name)
{
    size_t count, best_distance = strlen(name) / 3 + 2;
    const struct config_key *keys = config_keys(&count), *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t d = strcmp(keys[i].section, section) == 0 ? distance(name, keys[i].name) : SIZE_MAX;
        if (d < best_distance) {
            best_distance = d;
            best = &keys[i];
        }
    }
    return best;
}

static const char *section_of_key(const char *name)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return keys[i].section;
    }
    return NULL;
}

static void list_keys(const char *section, char *out, size_t size)
{
    size_t count, length = 0;
    const struct config_key *keys = config_keys(&count);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].section, section) != 0)
            continue;
        int n =
            snprintf(out + length, size - length, "%s%s", length != 0 ? ", " : "", keys[i].name);
        if (n < 0 || (size_t)n >= size - length)
            return;
        length += (size_t)n;
    }
}

static void unknown_key(struct source *source, const char *section, const char *name)
{
    const struct config_key *near = nearest_key(section, name);
    const char *other = section_of_key(name);
    char all[ERROR_TEXT_SIZE];
    if (other != NULL) {
        FAULT(source, "%s is a key of [%s], not of [%s]", name, other, section);
    } else if (near != NULL) {
        FAULT(source, "there is no key %s in [%s]; the nearest is %s", name, section, near->name);
    } else {
        list_keys(section, all, sizeof all);
        FAULT(source, "there is no key %s in [%s]; there are %s", name, section, all);
    }
}

/* ---- sections ---- */

static bool plain_section(const char *name)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].section, name) == 0)
            return strcmp(name, "cluster") != 0;
    }
    return false;
}

static void enter_cluster(struct source *source, const char *name)
{
    struct config *config = source->reading->config;
    uint32_t *count = &config->core.cluster_count;
    uint32_t i = 0;
    source->section = SECTION_UNKNOWN;
    if (!cluster_name_valid(name)) {
        FAULT(source, "cluster \"%s\": allowed are 1 to %d of a-z, 0-9 and _", name,
              CLUSTER_NAME_MAX);
        return;
    }
    while (i < *count && strcmp(config->clusters[i].name, name) != 0)
        i++;
    if (i == CLUSTERS_MAX) {
        FAULT(source, "cluster \"%s\" is one too many, at most %d are allowed", name, CLUSTERS_MAX);
        return;
    }
    if (i == *count) {
        ++*count;
        memcpy(config->clusters[i].name, name, strlen(name) + 1);
        source->reading->sections[i] = source->here;
    }
    source->cluster = i;
    source->section = SECTION_CLUSTER;
}

/* text is what stands between the brackets. */
static void enter_section(struct source *source, const char *text)
{
    char name[64];
    if (plain_section(text)) {
        source->section = SECTION_PLAIN;
        (void)snprintf(source->section_name, sizeof source->section_name, "%s", text);
        return;
    }
    int end = 0;
    if (sscanf(text, "cluster \"%63[^\"]\"%n", name, &end) == 1 && end != 0 && text[end] == '\0') {
        enter_cluster(source, name);
        return;
    }
    source->section = SECTION_UNKNOWN;
    FAULT(source,
          "there is no section [%s]; there are [broker], [state], [fm], [hwcoll], [vni] and "
          "[cluster \"NAME\"]",
          text);
}

/* ---- lines ---- */

/* Cuts a comment that begins with ';' after a blank, and the blanks at the end. */
static void trim(char *line)
{
    for (char *at = line; *at != '\0'; at++) {
        if (*at == ';' && (at == line || isblank((unsigned char)at[-1]))) {
            *at = '\0';
            break;
        }
    }
    size_t length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
}

static void read_section_line(struct source *source, char *line)
{
    size_t length = strlen(line);
    source->key = NULL;
    source->after_pair = false;
    if (line[length - 1] != ']') {
        source->section = SECTION_UNKNOWN;
        FAULT(source, "a section's line is [NAME], the ] is missing");
        return;
    }
    line[length - 1] = '\0';
    enter_section(source, line + 1);
}

/* What of the line inih shall see: a pair, without indentation; a continuation, indented; or
 * nothing. */
static const char *judge_line(struct source *source, char *line)
{
    trim(line);
    char *start = line + strspn(line, " \t");
    source->continuing = false;
    if (*start == '\0' || *start == '#')
        return "";
    if (*start == '[') {
        read_section_line(source, start);
        return "[]";
    }
    /* URLs and cert:NAME have colons of their own, so a list goes on over them. */
    bool in_list = start > line && source->key != NULL && config_value_is_list(source->key);
    if (strpbrk(start, in_list ? "=" : "=:") == NULL) {
        if (start > line && source->after_pair) {
            source->continuing = true;
            return line;
        }
        FAULT(source, "neither a section nor a comment nor \"key = value\": the = is missing");
        return "";
    }
    if (*start == '=' || *start == ':') {
        FAULT(source, "there is no key before the %c", *start);
        return "";
    }
    return start;
}

/* An ini_reader: fgets, line by line. */
static char *next_line(char *out, int size, void *stream)
{
    struct source *source = stream;
    if (source->reading->faults - source->faults_before >= FAULTS_MAX) {
        FAULT(source, "%d faults: the rest of this file was not read", FAULTS_MAX);
        source->given_up = true;
        return NULL;
    }
    ssize_t length = getline(&source->text, &source->text_size, source->file);
    if (length < 0)
        return NULL;
    source->here.line++;
    const char *line = "";
    size_t room = size > 3 ? (size_t)size - 3 : 0;
    if (memchr(source->text, '\0', (size_t)length) != NULL) {
        FAULT(source, "a NUL byte: this is no text file");
    } else {
        /* Some editors write a byte order mark. */
        static const char mark[] = "\xef\xbb\xbf";
        bool marked = source->here.line == 1 && strncmp(source->text, mark, 3) == 0;
        line = judge_line(source, source->text + (marked ? 3 : 0));
        if (strlen(line) > room || strlen(line) > LINE_MAX_BYTES) {
            FAULT(source,
                  "longer than %zu bytes; a list may go on in the next line if that is indented",
                  room < LINE_MAX_BYTES ? room : (size_t)LINE_MAX_BYTES);
            line = "";
        }
    }
    (void)snprintf(out, (size_t)size, "%s\n", line);
    return out;
}

/* ---- pairs ---- */

static void set_value(struct source *source, const struct config_key *key, const char *value)
{
    struct config_reading *reading = source->reading;
    size_t count, row = (size_t)(key - config_keys(&count));
    bool in_cluster = source->section == SECTION_CLUSTER;
    void *base =
        in_cluster ? (void *)&reading->config->clusters[source->cluster] : (void *)reading->config;
    struct config_origin *origin =
        in_cluster ? &reading->cluster_origins[source->cluster][row] : &reading->origins[row];
    struct error err = {0};

    if (!source->continuing && origin->file == source->here.file) {
        FAULT(source, "%s is set twice, first in line %u", key->name, origin->line);
        return;
    }
    if (source->continuing && !config_value_is_list(key)) {
        FAULT(source, "an indented line goes on with %s, which is no list", key->name);
        return;
    }
    if (config_value_set(key, base, value, source->continuing, &err) < 0) {
        FAULT(source, "%s = %.80s: %s", key->name, value, err.text);
        return;
    }
    if (!source->continuing)
        *origin = source->here;
    source->key = key;
}

/* An ini_handler. The section that inih gives is not looked at: ours knows more. */
static int on_pair(void *user, const char *section, const char *name, const char *value)
{
    struct source *source = user;
    (void)section;
    if (source->continuing) {
        if (source->key != NULL)
            set_value(source, source->key, value);
        return 1;
    }
    source->after_pair = true;
    source->key = NULL;
    if (source->section == SECTION_NONE)
        FAULT(source, "%s stands before the first section", name);
    if (source->section == SECTION_NONE || source->section == SECTION_UNKNOWN)
        return 1; /* reported already */
    const char *known = source->section == SECTION_CLUSTER ? "cluster" : source->section_name;
    const struct config_key *key = config_key_find(known, name);
    if (key == NULL)
        unknown_key(source, known, name);
    else
        set_value(source, key, value);
    return 1;
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
    struct source source = {.reading = reading, .faults_before = reading->faults};
    struct stat status;
    if (reading->file_count == CONFIG_FILES_MAX) {
        config_fault(reading, true, NULL, "more than %d files", CONFIG_FILES_MAX);
        return false;
    }
    reading->files[reading->file_count] = memory_text(path);
    source.here.file = ++reading->file_count;
    source.file = fopen(path, "re");
    if (source.file == NULL) {
        cannot_open(reading, &source.here, errno);
        return false;
    }
    bool found = fstat(fileno(source.file), &status) == 0;
    if (found && S_ISDIR(status.st_mode)) {
        FAULT(&source, "is a folder: name the file in it, as in --config %s/mcastd.conf", path);
        fclose(source.file);
        return false;
    }
    int rc = ini_parse_stream(next_line, &source, on_pair, &source);
    if (ferror(source.file) != 0)
        FAULT(&source, "cannot be read on: %s; look at its disk", strerror(errno));
    else if (rc < 0)
        FAULT(&source, "memory is exhausted");
    else if (rc > 0 && reading->faults == 0)
        config_fault(reading, true, &(struct config_origin){source.here.file, (unsigned)rc},
                     "not understood: allowed are sections, comments and \"key = value\"");
    free(source.text);
    bool whole = ferror(source.file) == 0 && !source.given_up;
    fclose(source.file);
    return whole;
}

void config_file_release(struct config_reading *reading)
{
    for (unsigned i = 0; i < reading->file_count; i++)
        free(reading->files[i]);
    reading->file_count = 0;
}
