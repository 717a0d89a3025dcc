/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/head.h"

#include "broker/http/listen/httpworker.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Fields of which a second one would be a second opinion. */
enum { HOST, LENGTH, ENCODING, TYPE, LOGIN, SINGLE };

static const char *const single[SINGLE] = {
    [HOST] = MHD_HTTP_HEADER_HOST,
    [LENGTH] = MHD_HTTP_HEADER_CONTENT_LENGTH,
    [ENCODING] = MHD_HTTP_HEADER_TRANSFER_ENCODING,
    [TYPE] = MHD_HTTP_HEADER_CONTENT_TYPE,
    [LOGIN] = MHD_HTTP_HEADER_AUTHORIZATION,
};

enum { LINE_END = 2 /* CR LF */ };

struct reading {
    const struct head *head;
    struct problem *problem;
    bool in_place;  /* the lines are not checked by libmicrohttpd: see head.h */
    const char *at; /* and then, where the next field has to begin */
    bool there[SINGLE];
    bool chunked; /* the encoding is exactly that */
    int rc;
};

static int bad_lines(struct problem *problem)
{
    return problem_set(problem, 400, "bad-request", NULL,
                       "the request's head is not made of lines that end with CR LF, one space "
                       "between the words of the first, without folded lines and NUL");
}

const char *head_value(struct MHD_Connection *connection, const char *name, char **copy)
{
    const char *value;
    size_t length, end;
    if (MHD_lookup_connection_value_n(connection, MHD_HEADER_KIND, name, strlen(name), &value,
                                      &length) != MHD_YES)
        return NULL;
    for (end = length; end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t'); end--)
        ;
    if (end == length)
        return value;
    head_value_drop(copy);
    *copy = strndup(value, end);
    return *copy ? *copy : "";
}

void head_value_drop(char **copy)
{
    if (*copy)
        explicit_bzero(*copy, strlen(*copy));
    free(*copy);
    *copy = NULL;
}

/* RFC 9110, 5.6.2 */
static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && is_letter(text[i]))
        i++;
    return length > 0 && i == length;
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            return true;
    return false;
}

static int check_single(struct reading *reading, const char *name, const char *value)
{
    for (size_t i = 0; i < SINGLE; i++) {
        if (strcasecmp(name, single[i]) != 0)
            continue;
        if (reading->there[i])
            return problem_set(reading->problem, 400, "bad-request", single[i], "%s is there twice",
                               single[i]);
        reading->there[i] = true;
        if (i == ENCODING)
            reading->chunked = !strcasecmp(value, "chunked");
    }
    return 0;
}

static int check_field(struct reading *reading, const char *name, size_t name_length,
                       const char *value)
{
    if (!is_token(name, name_length))
        return problem_set(reading->problem, 400, "bad-request", NULL,
                           "a header's name holds a space or another character that no name has");
    if (has_control(value))
        return problem_set(reading->problem, 400, "bad-request", name,
                           "the header %.64s holds a control character", name);
    return check_single(reading, name, value);
}

static enum MHD_Result on_field(void *arg, enum MHD_ValueKind kind, const char *name,
                                size_t name_length, const char *value, size_t value_length)
{
    struct reading *reading = arg;
    (void)kind;
    /* Only a folded line makes 0.9.75 move a name elsewhere. */
    if (reading->in_place && (name != reading->at || value <= name + name_length))
        reading->rc = bad_lines(reading->problem);
    else
        reading->rc = check_field(reading, name, name_length, value);
    reading->at = value + value_length + LINE_END;
    return reading->rc < 0 ? MHD_NO : MHD_YES;
}

static int check_first_line(struct reading *reading)
{
    const struct head *head = reading->head;
    size_t method = strlen(head->method);
    if (reading->in_place && (head->target != head->method + method + 1 ||
                              head->version != head->target + strlen(head->uri) + 1))
        return bad_lines(reading->problem);
    reading->at = head->version + strlen(head->version) + LINE_END;
    if (!is_token(head->method, method))
        return problem_set(reading->problem, 400, "bad-request", NULL,
                           "the method holds a character that no method has");
    if (!*head->uri || has_control(head->uri) || strpbrk(head->uri, " \t"))
        return problem_set(reading->problem, 400, "bad-request", NULL,
                           "the request's address is empty or holds a space or a control "
                           "character; percent-encode these");
    return 0;
}

/* RFC 9112, 3.2 and 6.1 */
static int check_framing(const struct reading *reading)
{
    bool old = !strcmp(reading->head->version, MHD_HTTP_VERSION_1_0);
    if (!reading->there[HOST] && !old)
        return problem_set(reading->problem, 400, "bad-request", single[HOST],
                           "Host is missing; HTTP/1.1 asks for one");
    if (!reading->there[ENCODING])
        return 0;
    if (reading->there[LENGTH])
        return problem_set(reading->problem, 400, "bad-request", single[LENGTH],
                           "Content-Length and Transfer-Encoding exclude each other");
    if (!reading->chunked || old)
        return problem_set(reading->problem, 400, "bad-request", single[ENCODING],
                           "no Transfer-Encoding is known but chunked, and that since HTTP/1.1");
    return 0;
}

int head_check(struct MHD_Connection *connection, const struct head *head, struct problem *problem)
{
    struct reading reading = {
        .head = head, .problem = problem, .in_place = !mhd_checks_lines(MHD_get_version())};
    if (check_first_line(&reading) < 0)
        return -1;
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_field, &reading);
    if (reading.rc < 0)
        return -1;
    size_t size =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    if (reading.in_place && reading.at + LINE_END != head->method + size)
        return bad_lines(problem);
    return check_framing(&reading);
}

/* ---- Accept ---- */

/* "q=0.5" and the like: thousandths; anything odd counts as 1. */
static int weight_parse(const char *text, size_t length)
{
    if (length == 0 || text[0] != '0')
        return 1000;
    int weight = 0, unit = 100;
    for (size_t i = 2; i < length && unit && text[i] >= '0' && text[i] <= '9'; i++, unit /= 10)
        weight += (text[i] - '0') * unit;
    return weight;
}

/* The weight among the parameters that stand before end. */
static int find_weight(const char *at, const char *end)
{
    while ((at = memchr(at, ';', (size_t)(end - at)))) {
        at += 1 + strspn(at + 1, " \t");
        if ((at[0] == 'q' || at[0] == 'Q') && at[1] == '=')
            return weight_parse(at + 2, (size_t)(end - at - 2));
    }
    return 1000;
}

int accept_weight(const char *accept, const char *type)
{
    const size_t main = strcspn(type, "/") + 1;
    int best = 0, weight = 0;
    if (!accept || !*accept)
        return 1000;
    for (const char *at = accept, *end; *at; at = end) {
        at += strspn(at, ", \t");
        end = at + strcspn(at, ",");
        const size_t length = strcspn(at, ";, \t");
        int match = 0; /* 3: the very type, 2: "text" and any, 1: any and any */
        if (length == strlen(type) && !strncasecmp(at, type, length))
            match = 3;
        else if (length == main + 1 && at[main] == '*' && !strncasecmp(at, type, main))
            match = 2;
        else if (length == 3 && !strncmp(at, "*/*", 3))
            match = 1;
        if (match > best) {
            best = match;
            weight = find_weight(at + length, end);
        }
    }
    return weight;
}
