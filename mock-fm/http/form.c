#include "mock-fm/http/form.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int digit_value(char digit)
{
    if (isdigit((unsigned char)digit))
        return digit - '0';
    return isxdigit((unsigned char)digit) ? tolower((unsigned char)digit) - 'a' + 10 : -1;
}

/* Decodes in place; the text only gets shorter. -1 for a bad escape or a zero byte. */
static int decode(char *text, size_t length)
{
    char *out = text;

    for (size_t i = 0; i < length; i++) {
        char byte = text[i] == '+' ? ' ' : text[i];

        if (byte == '%') {
            int high = i + 1 < length ? digit_value(text[i + 1]) : -1;
            int low = i + 2 < length ? digit_value(text[i + 2]) : -1;

            if (high < 0 || low < 0)
                return -1;
            byte = (char)(high << 4 | low);
            i += 2;
        }
        if (!byte)
            return -1;
        *out++ = byte;
    }
    *out = '\0';
    return 0;
}

static int add_field(struct form *form, char *field, size_t length)
{
    char *equals = memchr(field, '=', length);
    size_t name_length = equals ? (size_t)(equals - field) : length;

    if (length == 0)
        return 0;
    if (form->count == FORM_FIELDS_MAX ||
        (equals && decode(equals + 1, length - name_length - 1) < 0) ||
        decode(field, name_length) < 0)
        return -1;
    for (size_t i = 0; i < form->count; i++) {
        if (strcmp(form->fields[i].name, field) == 0)
            return -1;
    }
    form->fields[form->count].name = field;
    form->fields[form->count++].value = equals ? equals + 1 : "";
    return 0;
}

int form_parse(struct form *form, const char *body, size_t length)
{
    *form = (struct form){.size = length + 1};
    if (!(form->text = malloc(form->size)))
        return -1;
    if (length > 0)
        memcpy(form->text, body, length);
    form->text[length] = '\0';
    for (size_t start = 0; start < length;) {
        const char *end = memchr(form->text + start, '&', length - start);
        size_t field_length = end ? (size_t)(end - form->text) - start : length - start;

        form->text[start + field_length] = '\0';
        if (add_field(form, form->text + start, field_length) < 0)
            return -1;
        start += field_length + 1;
    }
    return 0;
}

void form_release(struct form *form)
{
    if (form->text)
        explicit_bzero(form->text, form->size);
    free(form->text);
    *form = (struct form){0};
}

const char *form_value(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++) {
        if (strcmp(form->fields[i].name, name) == 0)
            return form->fields[i].value[0] ? form->fields[i].value : NULL;
    }
    return NULL;
}
