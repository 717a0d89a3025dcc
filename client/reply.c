#include "client/reply.h"

#include <string.h>

enum { CONTINUE_PARSING = 0, NO_BODY = 1, GIVE_UP = -1 }; /* what http_parser's callbacks return */

/* 1xx: another answer follows it. */
static bool is_interim(const http_parser *parser)
{
    return parser->status_code < 200;
}

static void take_header(struct reply *reply)
{
    if (reply->valued && !reply->body && !is_interim(&reply->parser) &&
        reply->name_length <= sizeof(reply->name))
        flight_take_header(reply->flight, reply->name, reply->name_length, reply->value,
                           reply->value_length);
    reply->valued = false;
    reply->name_length = reply->value_length = 0;
}

/* As much as there is room for; the length counts the rest as well. */
static void append(char *text, size_t room, size_t *length, const char *bytes, size_t count)
{
    if (*length < room)
        memcpy(text + *length, bytes, count < room - *length ? count : room - *length);
    *length += count;
}

static int on_name(http_parser *parser, const char *bytes, size_t length)
{
    struct reply *reply = parser->data;
    if (reply->valued)
        take_header(reply);
    append(reply->name, sizeof(reply->name), &reply->name_length, bytes, length);
    return CONTINUE_PARSING;
}

static int on_value(http_parser *parser, const char *bytes, size_t length)
{
    struct reply *reply = parser->data;
    size_t used = reply->value_length;
    append(reply->value, sizeof(reply->value), &used, bytes, length);
    reply->value_length = used < sizeof(reply->value) ? used : sizeof(reply->value);
    reply->valued = true;
    return CONTINUE_PARSING;
}

static int on_head(http_parser *parser)
{
    struct reply *reply = parser->data;
    take_header(reply);
    if (parser->status_code == 101) /* nobody asked for another protocol */
        return GIVE_UP;
    if (is_interim(parser))
        return NO_BODY;
    reply->body = true;
    reply->flight->answer->status = (int)parser->status_code;
    /* Whatever its headers say (RFC 9112, 6.3). */
    return parser->status_code == 204 || parser->status_code == 304 ? NO_BODY : CONTINUE_PARSING;
}

static int on_body(http_parser *parser, const char *bytes, size_t length)
{
    struct reply *reply = parser->data;
    bool more = flight_take_body(reply->flight, (int)parser->status_code, bytes, length);
    return more ? CONTINUE_PARSING : GIVE_UP;
}

static int on_whole(http_parser *parser)
{
    struct reply *reply = parser->data;
    if (is_interim(parser))
        return CONTINUE_PARSING;
    reply->state = REPLY_WHOLE;
    reply->kept = http_should_keep_alive(parser);
    http_parser_pause(parser, 1); /* what stands behind it is not read as an answer */
    return CONTINUE_PARSING;
}

static const http_parser_settings settings = {
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_whole,
};

void reply_begin(struct reply *reply, struct flight *flight)
{
    *reply = (struct reply){.flight = flight};
    http_parser_init(&reply->parser, HTTP_RESPONSE);
    reply->parser.data = reply;
}

static enum reply_state over(struct reply *reply, enum trouble_kind kind, const char *words)
{
    flight_set_trouble(reply->flight, kind, words);
    reply->state = REPLY_OVER;
    return REPLY_OVER;
}

enum reply_state reply_feed(struct reply *reply, const char *bytes, size_t length)
{
    reply->begun = true;
    size_t read = http_parser_execute(&reply->parser, &settings, bytes, length);
    enum http_errno why = HTTP_PARSER_ERRNO(&reply->parser);
    if (reply->state == REPLY_WHOLE)
        reply->kept &= read == length;
    else if (why != HPE_OK)
        return over(reply, TROUBLE_GARBLED, http_errno_description(why));
    return reply->state;
}

/* An answer without a length is whole when the connection is closed, but not when it breaks. */
enum reply_state reply_end(struct reply *reply, const char *words)
{
    if (!words)
        http_parser_execute(&reply->parser, &settings, NULL, 0);
    reply->kept = false;
    if (reply->state == REPLY_WHOLE)
        return REPLY_WHOLE;
    if (reply->begun)
        return over(reply, TROUBLE_BROKEN, words ? words : "it was closed");
    return over(reply, words ? TROUBLE_BROKEN : TROUBLE_SILENT,
                words ? words : "it was closed without a word");
}

bool reply_begun(const struct reply *reply)
{
    return reply->begun;
}

bool reply_keeps(const struct reply *reply)
{
    return reply->kept;
}
