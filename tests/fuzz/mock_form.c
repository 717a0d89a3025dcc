/* SPDX-License-Identifier: Apache-2.0 */
/* A form's body, as the mock fabric manager's token endpoint reads it (mock-fm/http/oauth.h): the
 * whole input. Written again, it is read as the same. */

#include "mock-fm/http/oauth.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static size_t write_escaped(char *out, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *at = out;
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        *at++ = '%';
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 15];
    }
    return (size_t)(at - out);
}

static void check_written(const struct form *form, size_t length)
{
    char *text = malloc(3 * length + 2 * FORM_FIELDS_MAX + 1);
    struct form again;
    size_t size = 0;
    if (!text)
        abort();
    for (size_t i = 0; i < form->count; i++) {
        size += write_escaped(text + size, form->fields[i].name);
        text[size++] = '=';
        size += write_escaped(text + size, form->fields[i].value);
        text[size++] = '&';
    }
    FUZZ_CHECK(form_parse(&again, text, size) == 0 && again.count == form->count);
    for (size_t i = 0; i < form->count; i++) {
        const char *name = form->fields[i].name, *value = form->fields[i].value;
        FUZZ_CHECK(strcmp(again.fields[i].name, name) == 0);
        FUZZ_CHECK(strcmp(again.fields[i].value, value) == 0);
        const char *found = form_value(form, name);
        FUZZ_CHECK(*value == '\0' ? !found : found == value);
    }
    form_release(&again);
    free(text);
}

void fuzz_one(struct fuzz_input *in)
{
    struct form form;
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    if (form_parse(&form, bytes, length) == 0)
        check_written(&form, length);
    form_release(&form);
    free(bytes);
}
