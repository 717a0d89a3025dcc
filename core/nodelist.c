#include "core/nodelist.h"
#include "core/names.h"

#include <stdbool.h>
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

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
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

static int brackets(struct cursor *c, uint64_t *count, struct error *err)
{
    *count = 0;
    do {
        c->at++; /* '[' or ',' */
        uint64_t first, last;
        int rc = number(c, &first, err);
        if (rc < 0)
            return rc;
        last = first;
        if (*c->at == '-') {
            c->at++;
            if ((rc = number(c, &last, err)) < 0)
                return rc;
            if (last < first)
                return wrong(c, err, "a range that runs backwards ends");
        }
        *count += last - first + 1;
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
        } else if (name_char(*c->at)) {
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
