/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/reply.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void reply_begin(struct reply *reply, struct request *request)
{
    *reply = (struct reply){.request = request, .kept = true};
}

static void end_reply(struct reply *reply, enum trouble_kind kind, const char *words)
{
    request_set_trouble(reply->request, kind, words);
    reply->kept = false;
    reply->state = REPLY_OVER;
}

static void refuse_reply(struct reply *reply, const char *words)
{
    end_reply(reply, TROUBLE_GARBLED, words);
}

/* ---- lines ---- */

static void read_status_line(struct reply *reply)
{
    static const char version[] = "HTTP/1.1 ";
    const char *code = reply->line + sizeof version - 1;
    if (strncmp(reply->line, version, sizeof version - 1) != 0 || strspn(code, "0123456789") != 3 ||
        (code[3] != ' ' && code[3] != '\0') || code[0] == '0')
        refuse_reply(reply, "its first line is no status line of HTTP/1.1");
    else if ((reply->status = (int)strtol(code, NULL, 10)) == 101)
        refuse_reply(reply, "it changes to another protocol");
    reply->part = REPLY_HEADER;
}

/* A number that is all of the text. */
static bool read_number(const char *text, int base, uint64_t *number)
{
    size_t length = strspn(text, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");
    *number = strtoull(text, NULL, base);
    return length >= 1 && length <= 15 && text[length] == '\0'; /* so it cannot overflow */
}

static void read_header(struct reply *reply)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const char *name = reply->line;
    size_t length = strspn(name, token);
    if (length == 0 || name[length] != ':') {
        refuse_reply(reply, "a line of its head is no header");
        return;
    }
    char *value = reply->line + length + 1, *end = reply->line + reply->length;
    value += strspn(value, " \t");
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    reply->line[length] = '\0';
    if (reply->status < 200)
        return;
    bool sized = strcasecmp(name, "content-length") == 0;
    if (!sized && strcasecmp(name, "transfer-encoding") != 0) {
        if (strcasecmp(name, "connection") == 0)
            reply->kept &= strcasecmp(value, "keep-alive") == 0;
        request_take_header(reply->request, name, value);
    } else if (reply->sized || reply->chunked ||
               !(sized ? read_number(value, 10, &reply->left)
                       : strcasecmp(value, "chunked") == 0)) {
        refuse_reply(reply, "the length of its body is not given exactly once");
    } else {
        reply->sized = sized;
        reply->chunked = !sized;
    }
}

static void read_head_end(struct reply *reply)
{
    bool bodiless = reply->status == 204 || reply->status == 304; /* RFC 9112, 6.3 */
    if (reply->status < 200) {
        reply->part = REPLY_STATUS_LINE;
        return;
    }
    reply->request->answer.status = reply->status;
    reply->part = reply->chunked ? REPLY_CHUNK_SIZE : REPLY_BODY;
    if (!bodiless && !reply->sized && !reply->chunked)
        refuse_reply(reply, "the length of its body is not given");
    else if (bodiless || (reply->sized && reply->left == 0))
        reply->state = REPLY_WHOLE;
}

static void read_line(struct reply *reply)
{
    switch (reply->part) {
    case REPLY_STATUS_LINE:
        read_status_line(reply);
        break;
    case REPLY_HEADER:
        (reply->length > 0 ? read_header : read_head_end)(reply);
        break;
    case REPLY_CHUNK_SIZE:
        if (!read_number(reply->line, 16, &reply->left))
            refuse_reply(reply, "a chunk's size is no hexadecimal number");
        reply->part = reply->left > 0 ? REPLY_BODY : REPLY_LAST_LINE;
        break;
    case REPLY_CHUNK_END:
    case REPLY_LAST_LINE:
        if (reply->length > 0)
            refuse_reply(reply, "something stands behind a chunk");
        else if (reply->part == REPLY_LAST_LINE)
            reply->state = REPLY_WHOLE;
        reply->part = REPLY_CHUNK_SIZE;
        break;
    case REPLY_BODY:
        assert(!"a body has no lines");
    }
}

/* A line ends in CR LF; within it is neither, nor another control character. */
static void add_to_line(struct reply *reply, char byte)
{
    bool after_cr = reply->length > 0 && reply->line[reply->length - 1] == '\r';
    bool control = (unsigned char)byte < ' ' || byte == 0x7f;
    bool head = reply->part == REPLY_STATUS_LINE || reply->part == REPLY_HEADER;
    if (after_cr ? byte != '\n' : (control && byte != '\t' && byte != '\r')) {
        refuse_reply(reply, "a control character stands in its head");
    } else if (!after_cr && reply->length + 1 == sizeof reply->line) {
        refuse_reply(reply, "a line of its head is too long");
    } else if (!after_cr) {
        reply->line[reply->length++] = byte;
    } else if (head && ++reply->lines > REPLY_LINES_MAX) {
        refuse_reply(reply, "its head has too many lines");
    } else {
        reply->line[--reply->length] = '\0';
        read_line(reply);
        reply->length = 0;
    }
}

/* ---- */

/* How many bytes were taken. */
static size_t read_body(struct reply *reply, const char *bytes, size_t length)
{
    size_t piece = length < reply->left ? length : (size_t)reply->left;
    reply->left -= piece;
    if (!request_take_body(reply->request, reply->status, bytes, piece))
        refuse_reply(reply, "no more of it is wanted");
    else if (reply->left == 0 && reply->chunked)
        reply->part = REPLY_CHUNK_END;
    else if (reply->left == 0)
        reply->state = REPLY_WHOLE;
    return piece;
}

enum reply_state reply_feed(struct reply *reply, const char *bytes, size_t length)
{
    size_t read = 0;
    assert(length > 0 && reply->state == REPLY_MORE);
    reply->begun = true;
    while (read < length && reply->state == REPLY_MORE) {
        if (reply->part == REPLY_BODY)
            read += read_body(reply, bytes + read, length - read);
        else
            add_to_line(reply, bytes[read++]);
    }
    reply->kept &= read == length; /* what stands behind the answer is none */
    return reply->state;
}

enum reply_state reply_end(struct reply *reply, const char *words)
{
    const char *closed = reply->begun ? "it was closed" : "it was closed without a word";
    end_reply(reply, reply->begun || words ? TROUBLE_BROKEN : TROUBLE_SILENT,
              words ? words : closed);
    return reply->state;
}

bool reply_keeps(const struct reply *reply)
{
    return reply->state == REPLY_WHOLE && reply->kept;
}
