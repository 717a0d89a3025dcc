/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/secretscan.h"

#include <ctype.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KNOWN_MAX = 64,
    KNOWN_SIZE = 256,
    KNOWN_MIN = 8, /* what is shorter is found everywhere */
    BEFORE = 60,   /* so much is shown of what stands before a secret */
};

/* ---- by its form ---- */

static const struct form {
    const char *what, *begins; /* after "begins" come at least so many of these */
    const char *of;
    size_t least;
    const char *first; /* and the first is one of these; NULL: of those */
} forms[] = {
    {"a session token", "sess-", "0123456789abcdef", 32, NULL},
    {"a token of the broker's", "mcast1.",
     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 24, NULL},
    {"a job's key", "FI_OPX_UUID=", "0123456789abcdef", 32, NULL},
    {"a job's key", "FI_OPX_UUID\":\"", "0123456789abcdef", 32, NULL},
    {"an access token", ".", "0123456789abcdef", 300, NULL},
    {"the login", "Y3hpO", /* base64 of "cxi:" */
     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", 8,
     "ghijklmnopqrstuv"}, /* the bits of ':', which base64 within base64 has not */
    {"a private key", "PRIVATE KEY-----",
     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n", 60, NULL},
    {"a MUNGE credential",
     "MUNGE:", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", 40, NULL},
};

static bool has_form(const struct form *form, const char *bytes, size_t length, size_t *at)
{
    const size_t prefix = strlen(form->begins);
    const char *end = bytes + length, *next = bytes;
    /* Not memmem: a sanitizer looks each time at all that is left, before it searches. */
    while ((next = memchr(next, *form->begins, (size_t)(end - next)))) {
        size_t run = 0;
        if ((size_t)(end - next) < prefix || memcmp(next, form->begins, prefix) != 0) {
            next++;
            continue;
        }
        next += prefix;
        while (next + run < end && run < form->least && next[run] != '\0' &&
               strchr(form->of, next[run]))
            run++;
        if (run == form->least && (!form->first || strchr(form->first, *next))) {
            *at = (size_t)(next - bytes) - prefix;
            return true;
        }
    }
    return false;
}

bool secretscan_find(const char *bytes, size_t length, struct secretscan *found)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (has_form(&forms[i], bytes, length, &found->at)) {
            found->what = forms[i].what;
            return true;
        }
    }
    return false;
}

/* ---- in a folder ---- */

/* What the folder's files of passwords and keys hold: of each line the last word. */
struct known {
    char words[KNOWN_MAX][KNOWN_SIZE];
    size_t count;
};

static bool is_one_of(const char *name, const char *const *patterns)
{
    while (*patterns && fnmatch(*patterns, name, 0) != 0)
        patterns++;
    return *patterns;
}

static void learn(struct known *known, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[KNOWN_SIZE];
    while (file && known->count < KNOWN_MAX && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *word = strrchr(line, ' ');
        word = word ? word + 1 : line;
        if (strlen(word) >= KNOWN_MIN)
            (void)snprintf(known->words[known->count++], KNOWN_SIZE, "%s", word);
    }
    if (file)
        (void)fclose(file);
}

static bool is_known(const struct known *known, const char *bytes, size_t length,
                     struct secretscan *found)
{
    for (size_t i = 0; i < known->count; i++) {
        const char *there = memmem(bytes, length, known->words[i], strlen(known->words[i]));
        if (there) {
            *found = (struct secretscan){"a password or a key", (size_t)(there - bytes)};
            return true;
        }
    }
    return false;
}

/* From malloc; NULL: it is gone, or must not be read. */
static char *read_whole(const char *path, size_t *length)
{
    FILE *file = fopen(path, "re");
    size_t room = 0;
    char *bytes = NULL;
    *length = 0;
    while (file && *length == room) {
        char *more = realloc(bytes, room = room * 2 + 65536);
        if (!more) {
            perror(path);
            abort();
        }
        bytes = more;
        *length += fread(bytes + *length, 1, room - *length, file);
    }
    if (file)
        (void)fclose(file);
    return bytes;
}

static void tell(const char *where, const char *bytes, const struct secretscan *found)
{
    const size_t from = found->at > BEFORE ? found->at - BEFORE : 0;
    (void)fprintf(stderr, "%s holds %s, at byte %zu, after: ", where, found->what, found->at);
    for (size_t i = from; i < found->at; i++)
        (void)fputc(isprint((unsigned char)bytes[i]) ? bytes[i] : ' ', stderr);
    (void)fputc('\n', stderr);
}

static bool search_file(const char *path, const struct known *known)
{
    size_t length;
    struct secretscan found;
    char *bytes = read_whole(path, &length);
    const bool guilty =
        bytes && (secretscan_find(bytes, length, &found) || is_known(known, bytes, length, &found));
    if (guilty)
        tell(path, bytes, &found);
    free(bytes);
    return guilty;
}

static unsigned walk(const char *folder, struct known *known, bool learning)
{
    static const char *const teachers[] = {"passwd",    "client-secret", "state.key",
                                           "root.keys", "launch.keys",   NULL};
    static const char *const homes[] = {SECRETSCAN_HOMES, NULL};
    static const char *const folders[] = {SECRETSCAN_OUT, SECRETSCAN_KVS, NULL};
    char *const roots[] = {(char *)folder, NULL};
    unsigned guilty = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    for (FTSENT *entry; tree && (entry = fts_read(tree));) {
        if (entry->fts_info != FTS_F)
            continue;
        if (learning && is_one_of(entry->fts_name, teachers))
            learn(known, entry->fts_accpath);
        else if (!learning && !is_one_of(entry->fts_name, homes) &&
                 !is_one_of(entry->fts_parent->fts_name, folders))
            guilty += search_file(entry->fts_accpath, known);
    }
    if (tree)
        (void)fts_close(tree);
    return guilty;
}

unsigned secretscan_search(const char *folder)
{
    struct known *known = calloc(1, sizeof *known);
    if (!known)
        abort();
    (void)walk(folder, known, true);
    const unsigned guilty = walk(folder, known, false);
    free(known);
    return guilty;
}

/* ---- for the rig ---- */

/* Not by exit: nothing that a test has set up for its end shall turn this into a success, and
 * cmocka takes a teardown that fails for no failure. */
static void fail(void)
{
    (void)fflush(NULL);
    _exit(EXIT_FAILURE);
}

void secretscan_fail_if_folder(const char *folder)
{
    if (secretscan_search(folder) > 0)
        fail();
}

void secretscan_fail_if_text(const char *bytes, size_t length, const char *where)
{
    struct secretscan found;
    if (!secretscan_find(bytes, length, &found))
        return;
    tell(where, bytes, &found);
    fail();
}

void secretscan_fail_if_title(pid_t pid)
{
    char path[64];
    size_t length;
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    char *title = read_whole(path, &length);
    if (title)
        secretscan_fail_if_text(title, length, path);
    free(title);
}
