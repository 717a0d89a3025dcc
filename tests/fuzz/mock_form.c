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

static void check_written(json_t *form, size_t length)
{
    char *text = malloc(3 * length + 2 * json_object_size(form) + 1);
    const char *name;
    json_t *value;
    size_t size = 0;
    if (!text)
        abort();
    json_object_foreach(form, name, value)
    {
        size += write_escaped(text + size, name);
        text[size++] = '=';
        size += write_escaped(text + size, json_string_value(value));
        text[size++] = '&';
    }
    json_t *again = form_parse(text, size);
    FUZZ_CHECK(json_equal(again, form));
    json_decref(again);
    free(text);
}

void fuzz_one(struct fuzz_input *in)
{
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    json_t *form = form_parse(bytes, length);
    if (form)
        check_written(form, length);
    json_decref(form);
    free(bytes);
}
