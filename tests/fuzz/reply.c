/* SPDX-License-Identifier: Apache-2.0 */
/* The client's reading of an answer over the Unix socket (client/transport/reply.h): a byte for the
 * size of the pieces, one for whether it is a stream, then what the connection brings until it is
 * closed. In what pieces it comes must make no difference. */

#include "client/transport/reply.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct peer peer;
    struct request request;
    struct reply reply;
    struct text streamed;
    enum reply_state state;
};

static int on_piece(const char *bytes, size_t length, void *data)
{
    FUZZ_CHECK(length > 0);
    return text_add(data, bytes, length) ? 0 : MCAST_NOMEM;
}

static void check_end(const struct reader *reader)
{
    const struct trouble *trouble = &reader->request.trouble;
    const struct answer *answer = &reader->request.answer;
    FUZZ_CHECK(reader->state != REPLY_MORE);
    if (reader->state == REPLY_WHOLE) {
        FUZZ_CHECK(trouble->kind == TROUBLE_NONE && answer->status >= 200);
    } else {
        FUZZ_CHECK(trouble->kind == TROUBLE_GARBLED || trouble_broken(trouble));
        FUZZ_CHECK(trouble->words[0] != '\0' && !reply_keeps(&reader->reply));
    }
    FUZZ_CHECK(strnlen(answer->type, sizeof answer->type) < sizeof answer->type);
    FUZZ_CHECK(answer->retry_after <= 3600);
    FUZZ_CHECK(answer->body.length == 0 || reader->streamed.length == 0);
}

static void read_pieces(struct reader *reader, bool stream, const char *bytes, size_t length,
                        size_t piece)
{
    *reader = (struct reader){.request.peer = &reader->peer};
    if (stream) {
        reader->request.call.accept = "text/event-stream";
        reader->request.call.each = on_piece;
        reader->request.call.data = &reader->streamed;
    }
    reply_begin(&reader->reply, &reader->request);
    for (size_t at = 0; at < length && reader->state == REPLY_MORE; at += piece) {
        size_t take = length - at < piece ? length - at : piece;
        char *copy = malloc(take); /* so that the sanitizer sees one read too far */
        if (!copy)
            abort();
        memcpy(copy, bytes + at, take);
        reader->state = reply_feed(&reader->reply, copy, take);
        free(copy);
    }
    if (reader->state == REPLY_MORE)
        reader->state = reply_end(&reader->reply, NULL);
    check_end(reader);
}

static bool same_text(const struct text *one, const struct text *other)
{
    return one->length == other->length &&
           memcmp(text_string(one), text_string(other), one->length) == 0;
}

/* Of what is no answer in the end, more may have been read of one than of the other. */
static void check_same(const struct reader *one, const struct reader *other)
{
    FUZZ_CHECK(one->request.answer.status == other->request.answer.status);
    FUZZ_CHECK(strcmp(one->request.answer.type, other->request.answer.type) == 0);
    FUZZ_CHECK(one->request.answer.retry_after == other->request.answer.retry_after);
    FUZZ_CHECK(one->peer.clock_known == other->peer.clock_known);
    FUZZ_CHECK(same_text(&one->request.answer.body, &other->request.answer.body));
    FUZZ_CHECK(same_text(&one->streamed, &other->streamed));
}

static void release(struct reader *reader)
{
    text_release(&reader->request.answer.body);
    text_release(&reader->streamed);
}

void fuzz_one(struct fuzz_input *in)
{
    size_t piece = 1 + fuzz_byte(in) % 32, length;
    bool stream = fuzz_byte(in) % 2;
    char *bytes = fuzz_bytes(in, &length);
    struct reader whole, pieces;
    read_pieces(&whole, stream, bytes, length, length > 0 ? length : 1);
    read_pieces(&pieces, stream, bytes, length, piece);
    FUZZ_CHECK(whole.state == pieces.state);
    FUZZ_CHECK(whole.request.trouble.kind == pieces.request.trouble.kind);
    if (whole.state == REPLY_WHOLE)
        check_same(&whole, &pieces);
    /* What stands behind the answer may be in a piece that was not read. */
    FUZZ_CHECK(!reply_keeps(&whole.reply) || reply_keeps(&pieces.reply));
    release(&whole);
    release(&pieces);
    free(bytes);
}
