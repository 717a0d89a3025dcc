#include "broker/http/request/json_scan.h"

#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

int json_scan_bad(const struct json_scan *scan, const char *what)
{
    size_t line = 1, column = 1;
    for (const char *c = scan->start; c < scan->at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    return problem_set(scan->problem, 400, "bad-json", NULL,
                       "the body is not valid JSON: line %zu, column %zu: %s", line, column, what);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

char json_scan_peek(struct json_scan *scan)
{
    while (scan->at < scan->end && is_space(*scan->at))
        scan->at++;
    return (char)(scan->at < scan->end ? *scan->at : '\0');
}

static bool take(struct json_scan *scan, char wanted)
{
    if (json_scan_peek(scan) != wanted)
        return false;
    scan->at++;
    return true;
}

static bool at_word(const struct json_scan *scan, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(scan->end - scan->at) >= length && memcmp(scan->at, word, length) == 0;
}

const char *json_scan_kind(struct json_scan *scan)
{
    char first = json_scan_peek(scan);
    switch (first) {
    case '{':
        return "an object";
    case '[':
        return "a list";
    case '"':
        return "text";
    case 't':
        return at_word(scan, "true") ? "true or false" : NULL;
    case 'f':
        return at_word(scan, "false") ? "true or false" : NULL;
    case 'n':
        return at_word(scan, "null") ? "null" : NULL;
    default:
        return first == '-' || (first >= '0' && first <= '9') ? "a number" : NULL;
    }
}

/* ---- text ---- */

/* Four hexadecimal digits. */
static int read_unit(struct json_scan *scan, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = scan->at < scan->end && *scan->at ? strchr(digits, *scan->at) : NULL;
        if (!digit)
            return json_scan_bad(scan, "\\u needs four hexadecimal digits");
        *unit = *unit * 16 + (uint32_t)((digit - digits) % 16);
    }
    return 0;
}

/* Behind \u: a character, of two units if it must be. */
static int read_code(struct json_scan *scan, uint32_t *code)
{
    uint32_t low;
    if (read_unit(scan, code) < 0)
        return -1;
    if (*code == 0)
        return json_scan_bad(scan, "a NUL in a text");
    if (*code < 0xd800 || *code > 0xdfff)
        return 0;
    if (*code > 0xdbff || !at_word(scan, "\\u"))
        return json_scan_bad(scan, "half a character");
    scan->at += 2;
    if (read_unit(scan, &low) < 0)
        return -1;
    if (low < 0xdc00 || low > 0xdfff)
        return json_scan_bad(scan, "half a character");
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 0;
}

/* In UTF-8, which is shorter than the escape was. */
static void write_code(char **out, uint32_t code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};
    *(*out)++ = (char)(marks[more] | code >> 6 * more);
    while (more-- > 0)
        *(*out)++ = (char)(0x80 | (code >> 6 * more & 0x3f));
}

/* Behind a backslash. */
static int read_escape(struct json_scan *scan, char **out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = (char)(scan->at < scan->end ? *scan->at : '\0');
    const char *letter = c ? strchr(letters, c) : NULL;
    uint32_t code;
    if (!letter && c != 'u')
        return json_scan_bad(scan, "no such escape");
    scan->at++;
    if (letter) {
        *(*out)++ = meant[letter - letters];
        return 0;
    }
    if (read_code(scan, &code) < 0)
        return -1;
    write_code(out, code);
    return 0;
}

/* A character that is not ASCII. */
static int copy_character(struct json_scan *scan, char **out)
{
    size_t length = utf8_length(scan->at, (size_t)(scan->end - scan->at));
    if (length == 0)
        return json_scan_bad(scan, "not UTF-8");
    memmove(*out, scan->at, length);
    *out += length;
    scan->at += length;
    return 0;
}

/* One character of a text, which is not its end. */
static int copy_one(struct json_scan *scan, char **out)
{
    unsigned char c = (unsigned char)*scan->at;
    if (c < ' ')
        return json_scan_bad(scan, "a control character in a text");
    if (c >= 0x80)
        return copy_character(scan, out);
    scan->at++;
    if (c == '\\')
        return read_escape(scan, out);
    *(*out)++ = (char)c;
    return 0;
}

/* From the quote on; decoded where it stands. */
static int read_text(struct json_scan *scan, char **text)
{
    char *out = ++scan->at;
    *text = out;
    while (scan->at < scan->end && *scan->at != '"') {
        if (copy_one(scan, &out) < 0)
            return -1;
    }
    if (scan->at == scan->end)
        return json_scan_bad(scan, "the text does not end");
    scan->at++;
    *out = '\0';
    return 0;
}

int json_scan_text(struct json_scan *scan, const char *field, char **value)
{
    const char *kind = json_scan_kind(scan);
    if (!kind)
        return json_scan_bad(scan, "a text expected");
    if (*scan->at == '"')
        return read_text(scan, value);
    return problem_set(scan->problem, 422, "invalid", field, "%s must be text, not %s", field,
                       kind);
}

/* ---- numbers ---- */

static bool at_digit(const struct json_scan *scan)
{
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

static bool at_either(const struct json_scan *scan, char one, char other)
{
    return scan->at < scan->end && (*scan->at == one || *scan->at == other);
}

static int skip_digits(struct json_scan *scan)
{
    if (!at_digit(scan))
        return json_scan_bad(scan, "a digit expected");
    while (at_digit(scan))
        scan->at++;
    return 0;
}

struct number {
    int64_t value;
    bool whole; /* neither fraction nor exponent */
    bool fits;  /* into value */
};

/* The digits before any point. */
static int read_whole(struct json_scan *scan, struct number *number)
{
    if (!at_digit(scan))
        return json_scan_bad(scan, "a digit expected");
    if (*scan->at == '0') {
        scan->at++;
        return at_digit(scan) ? json_scan_bad(scan, "a number that begins with 0") : 0;
    }
    for (; at_digit(scan); scan->at++) {
        number->fits = number->fits && !__builtin_mul_overflow(number->value, 10, &number->value) &&
                       !__builtin_add_overflow(number->value, *scan->at - '0', &number->value);
    }
    return 0;
}

/* By the grammar of JSON. */
static int read_number(struct json_scan *scan, struct number *number)
{
    bool negative = *scan->at == '-';
    *number = (struct number){.whole = true, .fits = true};
    scan->at += negative;
    if (read_whole(scan, number) < 0)
        return -1;
    if (negative && number->fits)
        number->value = -number->value;
    if (at_either(scan, '.', '.')) {
        number->whole = false;
        scan->at++;
        if (skip_digits(scan) < 0)
            return -1;
    }
    if (!at_either(scan, 'e', 'E'))
        return 0;
    number->whole = false;
    scan->at++;
    scan->at += at_either(scan, '+', '-');
    return skip_digits(scan);
}

int json_scan_number(struct json_scan *scan, const char *field, int64_t min, int64_t max,
                     int64_t *value)
{
    const char *kind = json_scan_kind(scan);
    struct number number = {.whole = false};
    if (!kind)
        return json_scan_bad(scan, "a number expected");
    bool is_number = *scan->at == '-' || at_digit(scan);
    if (is_number && read_number(scan, &number) < 0)
        return -1;
    *value = number.value;
    if (number.whole && number.fits && *value >= min && *value <= max)
        return 0;
    return problem_set(scan->problem, 422, "invalid", field,
                       "%s must be a whole number from %" PRId64 " to %" PRId64 "%s%s", field, min,
                       max, number.whole ? "" : ", not ",
                       number.whole ? "" : (is_number ? "a fraction" : kind));
}

/* ---- objects and lists ---- */

int json_scan_name(const struct json_scan *scan, const char *name, const char *const *names,
                   uint32_t *seen)
{
    int i = 0;
    while (names[i] && strcmp(names[i], name) != 0)
        i++;
    assert(i < 32);
    if (!names[i])
        return problem_set(scan->problem, 422, "unknown-field", name,
                           "there is no field '%.64s' in this request; GET /openapi.json lists "
                           "those that there are",
                           name);
    if (*seen >> i & 1)
        return json_scan_bad(scan, "a field that is there twice");
    *seen |= UINT32_C(1) << i;
    return i;
}

static int read_member(struct json_scan *scan, json_member_fn *member, void *arg)
{
    char *name;
    if (json_scan_peek(scan) != '"')
        return json_scan_bad(scan, "the name of a field expected");
    if (read_text(scan, &name) < 0)
        return -1;
    if (!take(scan, ':'))
        return json_scan_bad(scan, "':' expected");
    return member(scan, name, arg);
}

int json_scan_object(struct json_scan *scan, json_member_fn *member, void *arg)
{
    if (!take(scan, '{'))
        return json_scan_bad(scan, "'{' expected");
    if (take(scan, '}'))
        return 0;
    do {
        if (read_member(scan, member, arg) < 0)
            return -1;
    } while (take(scan, ','));
    return take(scan, '}') ? 0 : json_scan_bad(scan, "',' or '}' expected");
}

int json_scan_list(struct json_scan *scan, json_item_fn *item, void *arg)
{
    size_t index = 0;
    if (!take(scan, '['))
        return json_scan_bad(scan, "'[' expected");
    if (take(scan, ']'))
        return 0;
    do {
        if (item(scan, index++, arg) < 0)
            return -1;
    } while (take(scan, ','));
    return take(scan, ']') ? 0 : json_scan_bad(scan, "',' or ']' expected");
}

int json_scan_body(char *bytes, size_t length, json_member_fn *member, void *arg,
                   struct problem *problem)
{
    static char none[1];
    char *start = length > 0 ? bytes : none;
    struct json_scan scan = {
        .start = start, .at = start, .end = start + length, .problem = problem};
    const char *kind = json_scan_kind(&scan);
    if (kind && *scan.at != '{')
        return problem_set(problem, 400, "bad-json", NULL,
                           "the body must be a JSON object, it is %s: line 1, column 1", kind);
    if (json_scan_object(&scan, member, arg) < 0)
        return -1;
    (void)json_scan_peek(&scan);
    return scan.at == scan.end ? 0 : json_scan_bad(&scan, "nothing may follow the object");
}
