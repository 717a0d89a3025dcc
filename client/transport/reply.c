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

static enum reply_state fail(struct reply *reply, enum trouble_kind kind, const char *words)
{
    request_set_trouble(reply->request, kind, words);
    reply->kept = false;
    return reply->state = REPLY_OVER;
}

static enum reply_state refuse(struct reply *reply, const char *words)
{
    return fail(reply, TROUBLE_GARBLED, words);
}

/* ---- lines ---- */

static enum reply_state take_status_line(struct reply *reply)
{
    static const char version[] = "HTTP/1.1 ";
    const char *code = reply->line + sizeof(version) - 1;
    if (strncmp(reply->line, version, sizeof(version) - 1) != 0 ||
        strspn(code, "0123456789") != 3 || (code[3] != ' ' && code[3] != '\0') || code[0] == '0')
        return refuse(reply, "its first line is no status line of HTTP/1.1");
    reply->status = (code[0] - '0') * 100 + (code[1] - '0') * 10 + code[2] - '0';
    reply->part = REPLY_HEADER;
    return reply->status == 101 ? refuse(reply, "it changes to another protocol") : REPLY_MORE;
}

/* A number that is all of the text. */
static bool read_number(const char *text, int base, uint64_t *number)
{
    size_t length = strspn(text, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");
    *number = strtoull(text, NULL, base);
    return length >= 1 && length <= 15 && text[length] == '\0'; /* hence no overflow */
}

/* How long the body is must be told once, in one way. */
static enum reply_state take_framing(struct reply *reply, bool length, const char *value)
{
    bool known = length ? read_number(value, 10, &reply->left) : strcasecmp(value, "chunked") == 0;
    if (!known || reply->sized || reply->chunked)
        return refuse(reply, "the length of its body is not told once");
    *(length ? &reply->sized : &reply->chunked) = true;
    return REPLY_MORE;
}

static enum reply_state take_header(struct reply *reply)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const char *name = reply->line;
    size_t name_length = strspn(name, token);
    if (name_length == 0 || name[name_length] != ':')
        return refuse(reply, "a line of its head is no header");
    char *value = reply->line + name_length + 1, *end = reply->line + reply->length;
    value += strspn(value, " \t");
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    reply->line[name_length] = '\0';
    if (reply->status < 200)
        return REPLY_MORE;
    if (strcasecmp(name, "connection") == 0)
        reply->kept &= strcasecmp(value, "keep-alive") == 0;
    if (strcasecmp(name, "content-length") == 0)
        return take_framing(reply, true, value);
    if (strcasecmp(name, "transfer-encoding") == 0)
        return take_framing(reply, false, value);
    request_take_header(reply->request, name, value);
    return REPLY_MORE;
}

static enum reply_state take_head_end(struct reply *reply)
{
    if (reply->status < 200) {
        reply->part = REPLY_STATUS_LINE;
        return REPLY_MORE;
    }
    bool bodiless = reply->status == 204 || reply->status == 304; /* RFC 9112, 6.3 */
    if (!bodiless && !reply->sized && !reply->chunked)
        return refuse(reply, "the length of its body is not told");
    reply->request->answer.status = reply->status;
    reply->part = reply->chunked ? REPLY_CHUNK_SIZE : REPLY_BODY;
    if (bodiless || (reply->sized && reply->left == 0))
        reply->state = REPLY_WHOLE;
    return reply->state;
}

static enum reply_state take_chunk_size(struct reply *reply)
{
    if (!read_number(reply->line, 16, &reply->left))
        return refuse(reply, "a chunk's size is no hexadecimal number");
    reply->part = reply->left > 0 ? REPLY_BODY : REPLY_LAST_LINE;
    return REPLY_MORE;
}

static enum reply_state take_empty_line(struct reply *reply)
{
    if (reply->length > 0)
        return refuse(reply, "something stands behind a chunk");
    if (reply->part == REPLY_LAST_LINE)
        return reply->state = REPLY_WHOLE;
    reply->part = REPLY_CHUNK_SIZE;
    return REPLY_MORE;
}

static enum reply_state take_line(struct reply *reply)
{
    assert(reply->part != REPLY_BODY);
    if (reply->part == REPLY_STATUS_LINE)
        return take_status_line(reply);
    if (reply->part == REPLY_HEADER)
        return reply->length > 0 ? take_header(reply) : take_head_end(reply);
    return reply->part == REPLY_CHUNK_SIZE ? take_chunk_size(reply) : take_empty_line(reply);
}

/* A line ends in CR LF; within it is neither, nor another control character. */
static enum reply_state add_to_line(struct reply *reply, char byte)
{
    bool after_cr = reply->length > 0 && reply->line[reply->length - 1] == '\r';
    bool control = (unsigned char)byte < ' ' || byte == 0x7f;
    if (after_cr ? byte != '\n' : (control && byte != '\t' && byte != '\r'))
        return refuse(reply, "a control character stands in its head");
    if (!after_cr && reply->length + 1 == sizeof(reply->line))
        return refuse(reply, "a line of its head is too long");
    if (!after_cr) {
        reply->line[reply->length++] = byte;
        return REPLY_MORE;
    }
    reply->line[--reply->length] = '\0';
    bool head = reply->part == REPLY_STATUS_LINE || reply->part == REPLY_HEADER;
    if (head && ++reply->lines > REPLY_LINES_MAX)
        return refuse(reply, "its head has too many lines");
    enum reply_state state = take_line(reply);
    reply->length = 0;
    return state;
}

/* ---- */

/* How many bytes were taken. */
static size_t take_body(struct reply *reply, const char *bytes, size_t length)
{
    size_t piece = length < reply->left ? length : (size_t)reply->left;
    reply->left -= piece;
    if (!request_take_body(reply->request, reply->status, bytes, piece))
        fail(reply, TROUBLE_GARBLED, "no more of it is wanted");
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
            read += take_body(reply, bytes + read, length - read);
        else
            add_to_line(reply, bytes[read++]);
    }
    reply->kept &= read == length; /* what stands behind the answer is none */
    return reply->state;
}

enum reply_state reply_end(struct reply *reply, const char *words)
{
    if (reply->begun)
        return fail(reply, TROUBLE_BROKEN, words ? words : "it was closed");
    return fail(reply, words ? TROUBLE_BROKEN : TROUBLE_SILENT,
                words ? words : "it was closed without a word");
}

bool reply_keeps(const struct reply *reply)
{
    return reply->state == REPLY_WHOLE && reply->kept;
}
