/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/der.h"

#include <stdbool.h>

enum { TAG_OCTETS = 0x04, TAG_SEQUENCE = 0x30, CONSTRUCTED = 0x20, LONG_TAG = 0x1f };

struct element {
    unsigned char tag;
    size_t head, content; /* bytes */
};

enum reading { READ_GOOD, READ_CUT, READ_STRANGE };

static enum reading element_read(const unsigned char *bytes, size_t length, struct element *out)
{
    if (length < 2)
        return READ_CUT;
    out->tag = bytes[0];
    out->head = 2;
    out->content = bytes[1];
    if ((out->tag & LONG_TAG) == LONG_TAG || bytes[1] == 0x80 || bytes[1] > 0x84)
        return READ_STRANGE;
    if (bytes[1] > 0x80) {
        size_t more = bytes[1] & 0x7fu;
        if (length < 2 + more)
            return READ_CUT;
        out->content = 0;
        for (size_t i = 0; i < more; i++)
            out->content = out->content << 8 | bytes[2 + i];
        out->head += more;
    }
    return out->content <= length - out->head ? READ_GOOD : READ_CUT;
}

static bool holds_elements(const unsigned char *bytes, const struct element *element)
{
    struct element inner;
    if (element->tag & CONSTRUCTED)
        return true;
    return element->tag == TAG_OCTETS &&
           element_read(bytes + element->head, element->content, &inner) == READ_GOOD &&
           inner.tag == TAG_SEQUENCE && inner.head + inner.content == element->content;
}

size_t der_elements(const unsigned char *bytes, size_t length, size_t max)
{
    size_t count = 0;
    while (length > 0 && count <= max) {
        struct element element;
        enum reading reading = element_read(bytes, length, &element);
        if (reading == READ_STRANGE)
            return max + 1;
        if (reading == READ_CUT)
            break;
        count++;
        size_t step = element.head + (holds_elements(bytes, &element) ? 0 : element.content);
        bytes += step;
        length -= step;
    }
    return count;
}
