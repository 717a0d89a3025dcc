/* The fields of a body of type application/x-www-form-urlencoded. They may hold secrets. */
#ifndef MCAST_MOCK_FM_HTTP_FORM_H
#define MCAST_MOCK_FM_HTTP_FORM_H

#include <stddef.h>

#define FORM_FIELDS_MAX 16

struct form {
    char *text; /* owned: the decoded names and values, each terminated */
    size_t size;
    struct {
        const char *name, *value;
    } fields[FORM_FIELDS_MAX];
    size_t count;
};

/* Decodes. 0; or -1 when the body is no form: a bad or a zero percent-encoded byte, a field twice
 * (RFC 6749, 3.2 forbids it), too many of them; or without memory. Release it either way. */
int form_parse(struct form *form, const char *body, size_t length);

/* Wipes and frees. */
void form_release(struct form *form);

/* NULL when it is not there or empty, which is the same (RFC 6749, 3.2). */
const char *form_value(const struct form *form, const char *name);

#endif
