/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/options.h"

#include "base/names.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 32, LIMIT_MAX = 65535, LIMIT_DIGITS = 5, NAMES_MAX = 3, NAME_MAX_LENGTH = 32 };

static const char grammar[] =
    "vnis=N, vni=K, shared=A:B, hwcoll=on|off|required, tc=A:B, single-node=on|off, profile=NAME, "
    "res_les=N";

/* ---- one word: NAME=VALUE ---- */

static const char *const counts[] = {"0", "1", "2", "3", "4", NULL};
static const char *const ordinals[] = {"1", "2", "3", "4", NULL};
static const char *const hwcoll[] = {"auto", "on", "off", "required", NULL};
static const char *const classes[] = {"best_effort", "low_latency", "bulk_data", "dedicated_access",
                                      NULL};
static const char *const switches[] = {"on", "off", NULL};

struct kind {
    const char *name;
    const char *const *values; /* NULL: a number up to LIMIT_MAX, or names */
    bool of_step;              /* steps of one job can differ in it */
    bool list;                 /* several values, with colons between them */
    bool names;                /* they are names of shared VNIs, which the broker knows */
    bool free;                 /* a name of the site's choice: the broker knows which there are */
    const char *allowed;
};

enum { VNI, HWCOLL };

static const struct kind kinds[] = {
    [VNI] = {"vni", ordinals, .of_step = true,
             .allowed = "which of the job's VNIs, 1 to 4, a step is to have"},
    [HWCOLL] = {"hwcoll", hwcoll, .of_step = true, .allowed = "auto, on, off or required"},
    {"vnis", counts, .allowed = "a job can have 0 to 4 VNIs"},
    {"shared", .names = true,
     .allowed = "names of at most 3 shared VNIs, with colons between them"},
    {"tc", classes, .list = true,
     .allowed =
         "best_effort, low_latency, bulk_data and dedicated_access, with colons between them"},
    {"single-node", switches, .allowed = "on or off"},
    {"profile", NULL, .free = true, .allowed = "the name of a profile of the site: a-z, 0-9 and _"},
};
static const struct kind limit = {"def_les", .allowed = "a number from 0 to 65535"};

/* Its index, or -1. */
static int find_word(const char *text, size_t length, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return i;
    }
    return -1;
}

/* NULL: none of ours. */
static const struct kind *find_kind(const char *name, size_t length)
{
    static const char *const limits[] = {"def_", "res_", "max_", NULL};
    static const char *const resources[] = {"txqs", "tgqs", "eqs", "cts", "tles",
                                            "ptes", "les",  "acs", NULL};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, name, length) == 0)
            return &kinds[i];
    }
    const bool is_limit = length > 4 && find_word(name, 4, limits) >= 0 &&
                          find_word(name + 4, length - 4, resources) >= 0;
    return is_limit ? &limit : NULL;
}

/* 0, or -1. */
static int find_names(const char *value)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
    for (size_t count = 1;; count++) {
        const size_t length = strspn(value, allowed);
        if (length == 0 || length > NAME_MAX_LENGTH || count > NAMES_MAX ||
            (value[length] != '\0' && value[length] != ':'))
            return -1;
        if (value[length] == '\0')
            return 0;
        value += length + 1;
    }
}

/* The index of its (last) value, 0 for a number; -1: it is not allowed. */
static int find_value(const struct kind *kind, const char *value)
{
    const size_t length = strcspn(value, kind->list ? ":" : "");
    if (kind->free) /* as base/names.h has it, whose code is not linked here */
        return length > 0 && length <= PROFILE_NAME_MAX &&
                       strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_") == length
                   ? 0
                   : -1;
    if (kind->names)
        return find_names(value);
    if (!kind->values)
        return length > 0 && length <= LIMIT_DIGITS && strspn(value, "0123456789") == length &&
                       atoi(value) <= LIMIT_MAX
                   ? 0
                   : -1;
    const int index = find_word(value, length, kind->values);
    return index >= 0 && value[length] ? find_value(kind, value + length + 1) : index;
}

static int read_word(struct options *options, const char *name, const char *value,
                     struct error *err)
{
    const struct kind *kind = find_kind(name, strlen(name));
    const int index = kind ? find_value(kind, value) : -1;
    if (!kind)
        return error_set(err, ERROR_INVALID, "'%.40s' is none of its words: %s", name, grammar);
    if (index < 0)
        return error_set(err, ERROR_INVALID, "%.40s=%.40s: %s", name, value, kind->allowed);
    options->of_job = options->of_job || !kind->of_step;
    if (kind == &kinds[HWCOLL])
        options->hwcoll = (enum options_hwcoll)(OPTIONS_HWCOLL_AUTO + index);
    if (kind == &kinds[VNI])
        options->vni = (unsigned)index + 1;
    return 0;
}

/* ---- all of them ---- */

/* It goes through environments and shells: nothing but what the words are made of. */
static int check_letters(const char *text, struct error *err)
{
    const size_t length = strnlen(text, OPTIONS_TEXT_MAX + 1);
    if (length == 0)
        return error_set(err, ERROR_INVALID, "nothing is said: %s", grammar);
    if (length > OPTIONS_TEXT_MAX)
        return error_set(err, ERROR_INVALID, "longer than %d letters", OPTIONS_TEXT_MAX);
    if (strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-=,:.") != length)
        return error_set(err, ERROR_INVALID, "has letters that none of its words has: %s", grammar);
    return 0;
}

int options_read(struct options *options, const char *text, struct error *err)
{
    char copy[OPTIONS_TEXT_MAX + 1];
    const char *names[WORDS_MAX];
    size_t count = 0;
    *options = (struct options){0};
    int rc = check_letters(text, err);
    char *rest = rc == 0 ? strcpy(copy, text) : NULL;
    for (char *value; rc == 0 && (value = strsep(&rest, ","));) {
        const char *name = strsep(&value, "=");
        if (count == WORDS_MAX)
            return error_set(err, ERROR_INVALID, "more than %d words", WORDS_MAX);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(names[i], name) == 0)
                return error_set(err, ERROR_INVALID, "%.40s is said twice", name);
        }
        names[count++] = name;
        rc = read_word(options, name, value ? value : "", err);
    }
    return rc;
}

static const char *next_word(const char *text)
{
    const char *comma = strchr(text, ',');
    return comma ? comma + 1 : NULL;
}

bool options_step_fits(const char *step, const char *job)
{
    for (; step; step = next_word(step)) {
        const struct kind *kind = find_kind(step, strcspn(step, "=,"));
        const size_t length = strcspn(step, ",");
        const char *same = job;
        while (same && !(strcspn(same, ",") == length && memcmp(same, step, length) == 0))
            same = next_word(same);
        if (!same && !(kind && kind->of_step))
            return false;
    }
    return true;
}
