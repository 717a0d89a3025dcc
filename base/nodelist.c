/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nodelist.h"
#include "base/names.h"

#include <string.h>

/* text  = name { "," name }
 * name  = one or more of: characters, "[" range { "," range } "]"
 * range = number [ "-" number ], of at most 9 digits each */

struct cursor {
    const char *text;
    const char *at;
};

static int wrong(const struct cursor *c, struct error *err, const char *what)
{
    return error_set(err, ERROR_INVALID, "node list: %s at byte %d", what, (int)(c->at - c->text));
}

static int number(struct cursor *c, uint64_t *value, struct error *err)
{
    int digits = 0;
    for (*value = 0; *c->at >= '0' && *c->at <= '9'; c->at++, digits++) {
        if (digits == 9)
            return wrong(c, err, "a number of more than 9 digits");
        *value = *value * 10 + (uint64_t)(*c->at - '0');
    }
    return digits > 0 ? 0 : wrong(c, err, "a number is expected");
}

struct range {
    uint64_t first, last;
    size_t width; /* digits of the first as written */
};

/* The range behind the '[' or ',' at which the cursor is. */
static int range(struct cursor *c, struct range *r, struct error *err)
{
    const char *start = ++c->at;
    int rc = number(c, &r->first, err);
    r->width = (size_t)(c->at - start);
    r->last = r->first;
    if (rc < 0 || *c->at != '-')
        return rc;
    c->at++;
    if ((rc = number(c, &r->last, err)) < 0)
        return rc;
    return r->last < r->first ? wrong(c, err, "a range that runs backwards ends") : 0;
}

static int brackets(struct cursor *c, uint64_t *count, struct error *err)
{
    *count = 0;
    do {
        struct range r;
        int rc = range(c, &r, err);
        if (rc < 0)
            return rc;
        *count += r.last - r.first + 1;
        if (*count > NODELIST_COUNT_MAX)
            return wrong(c, err, "more than a million nodes");
    } while (*c->at == ',');
    if (*c->at != ']')
        return wrong(c, err, "']' is missing");
    c->at++;
    return 0;
}

static int name(struct cursor *c, uint64_t *count, struct error *err)
{
    const char *start = c->at;
    *count = 1;
    for (;;) {
        if (*c->at == '[') {
            uint64_t within;
            int rc = brackets(c, &within, err);
            if (rc < 0)
                return rc;
            *count *= within;
            if (*count > NODELIST_COUNT_MAX)
                return wrong(c, err, "more than a million nodes");
        } else if (node_char(*c->at)) {
            c->at++;
        } else {
            break;
        }
    }
    return c->at > start ? 0 : wrong(c, err, "a node name is expected");
}

int nodelist_count(const char *text, uint32_t *count, struct error *err)
{
    struct cursor c = {.text = text, .at = text};
    uint64_t total = 0;
    if (strnlen(text, NODES_TEXT_MAX + 1) > NODES_TEXT_MAX)
        return error_set(err, ERROR_INVALID, "node list: longer than %d bytes", NODES_TEXT_MAX);
    for (;;) {
        uint64_t more;
        int rc = name(&c, &more, err);
        if (rc < 0)
            return rc;
        total += more;
        if (total > NODELIST_COUNT_MAX)
            return wrong(&c, err, "more than a million nodes");
        if (*c.at == '\0')
            break;
        if (*c.at != ',')
            return wrong(&c, err, "a character that no node name has");
        c.at++;
    }
    *count = (uint32_t)total;
    return 0;
}

/* ---- membership ---- */

/* How many first characters of the node's name the text read so far can stand for: one mark for
 * each number that is possible, since "[1-2]" or "[1-20]" may be what the "12" of a name is. */
struct match {
    const char *node;
    size_t length;
    bool can[NODELIST_NAME_MAX + 2];
};

static bool match_letter(struct match *match, char letter)
{
    bool any = false;
    for (size_t i = match->length + 1; i-- > 0;) {
        match->can[i + 1] = match->can[i] && match->node[i] == letter && letter != '\0';
        any = any || match->can[i + 1];
    }
    match->can[0] = false;
    return any;
}

/* Marks in `next` where the numbers of a range lead to. */
static bool match_range(const struct match *match, bool *next, const struct range *r)
{
    bool any = false;
    for (size_t i = 0; i < match->length; i++) {
        uint64_t value = 0;
        for (size_t digits = 1; match->can[i] && digits <= 9 && i + digits <= match->length;
             digits++) {
            char c = match->node[i + digits - 1];
            if (c < '0' || c > '9')
                break;
            value = value * 10 + (uint64_t)(c - '0');
            bool written_so = digits == r->width || (digits > r->width && match->node[i] != '0');
            if (written_so && value >= r->first && value <= r->last)
                next[i + digits] = any = true;
        }
    }
    return any;
}

static bool match_brackets(struct match *match, struct cursor *c)
{
    bool next[sizeof match->can] = {false}, any = false;
    do {
        struct range r;
        (void)range(c, &r, NULL);
        any = match_range(match, next, &r) || any;
    } while (*c->at == ',');
    if (*c->at++ != ']')
        return false; /* this is no list */
    memcpy(match->can, next, sizeof next);
    return any;
}

/* To the ',' after this name, or the end. */
static void skip_name(struct cursor *c)
{
    bool inside = false;
    for (; *c->at && (inside || *c->at != ','); c->at++)
        inside = *c->at == '[' || (inside && *c->at != ']');
}

static bool name_matches(struct match *match, struct cursor *c)
{
    bool may = true;
    memset(match->can, 0, sizeof match->can);
    match->can[0] = true;
    while (may && *c->at && *c->at != ',')
        may = *c->at == '[' ? match_brackets(match, c) : match_letter(match, *c->at++);
    return may && match->can[match->length];
}

bool nodelist_contains(const char *text, const char *node)
{
    struct match match = {.node = node, .length = strnlen(node, NODELIST_NAME_MAX + 1)};
    struct cursor c = {.text = text, .at = text};
    if (match.length == 0 || match.length > NODELIST_NAME_MAX)
        return false;
    for (;;) {
        const char *start = c.at;
        if (name_matches(&match, &c))
            return true;
        c.at = start;
        skip_name(&c);
        if (*c.at == '\0')
            return false;
        c.at++;
    }
}

/* ---- expansion ---- */

struct expansion {
    void (*each)(void *arg, const struct nodelist_run *run);
    void *arg;
    char name[NODELIST_NAME_MAX + 1];
};

/* With at least as many digits as the range's first number has. */
static size_t put_number(char *out, size_t size, uint64_t value, size_t width)
{
    char digits[20];
    size_t length = 0;
    for (; value > 0 || length == 0; value /= 10)
        digits[length++] = (char)('0' + value % 10);
    size_t zeros = width > length ? width - length : 0;
    if (zeros + length >= size)
        return size;
    memset(out, '0', zeros);
    for (size_t i = 0; i < length; i++)
        out[zeros + i] = digits[length - 1 - i];
    return zeros + length;
}

/* What follows `at` in the text, behind what stands in the name already. Each bracket adds to the
 * name, so it goes no deeper than a name is long. */
static void expand(struct expansion *e, const char *at, size_t length)
{
    while (*at && *at != ',' && *at != '[' && length < NODELIST_NAME_MAX)
        e->name[length++] = *at++;
    if (*at == '\0' || *at == ',') {
        e->name[length] = '\0';
        e->each(e->arg, &(struct nodelist_run){.prefix = e->name});
    }
    if (*at != '[')
        return;
    const char *behind = strchr(at, ']') + 1;
    const bool ends = (*behind == '\0' || *behind == ',') && length + 9 <= NODELIST_NAME_MAX;
    struct cursor c = {.text = at, .at = at};
    while (*c.at != ']') {
        struct range r;
        (void)range(&c, &r, NULL);
        e->name[length] = '\0';
        if (ends)
            e->each(e->arg, &(struct nodelist_run){e->name, (uint32_t)r.first, (uint32_t)r.last,
                                                   (unsigned)r.width});
        for (uint64_t value = r.first; !ends && value <= r.last; value++) {
            size_t room = sizeof e->name - length;
            size_t digits = put_number(e->name + length, room, value, r.width);
            if (digits < room)
                expand(e, behind, length + digits);
        }
    }
}

void nodelist_runs(const char *text, void (*each)(void *arg, const struct nodelist_run *run),
                   void *arg)
{
    struct expansion e = {.each = each, .arg = arg};
    struct cursor c = {.text = text, .at = text};
    for (;;) {
        expand(&e, c.at, 0);
        skip_name(&c);
        if (*c.at == '\0')
            return;
        c.at++;
    }
}

struct names {
    void (*each)(void *arg, const char *name);
    void *arg;
};

static void expand_run(void *arg, const struct nodelist_run *run)
{
    const struct names *names = arg;
    char name[NODELIST_NAME_MAX + 1];
    const size_t length = strlen(run->prefix);
    memcpy(name, run->prefix, length + 1);
    for (uint64_t value = run->first; value <= run->last; value++) {
        if (run->width > 0)
            name[length + put_number(name + length, sizeof name - length, value, run->width)] =
                '\0';
        names->each(names->arg, name);
    }
}

void nodelist_each(const char *text, void (*each)(void *arg, const char *name), void *arg)
{
    nodelist_runs(text, expand_run, &(struct names){each, arg});
}
