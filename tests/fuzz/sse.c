/* SPDX-License-Identifier: Apache-2.0 */
/* The client's reading of a stream of events (client/calls/events.h): a byte for the size of
 * the pieces, then the stream. In what pieces it comes must make no difference. */

#include "client/calls/events.h"
#include "client/calls/field.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_event(const char *name, const char *lines)
{
    struct mcast_error error = {0};
    struct mcast_event *event = NULL;
    if (event_decode(&event, name, lines, &error) < 0) {
        FUZZ_CHECK(error.code == MCAST_UNCLEAR && error.text[0] != '\0');
        return;
    }
    FUZZ_CHECK(event->event && event->json && !strchr(event->json, '\n'));
    FUZZ_CHECK(event->vni_count <= 4 && (event->vni_count == 0 || event->vnis));
    json_t *again = json_loads(event->json, 0, NULL);
    FUZZ_CHECK(json_equal(again, document_root(event)));
    json_decref(again);
    document_free(event);
}

static int on_event(const char *name, const char *lines, void *out)
{
    FUZZ_CHECK(name && lines);
    (void)fprintf(out, "%s|%s\n", name, lines);
    check_event(name, lines);
    return 0;
}

/* All events of the stream, cut into pieces, as one text. */
static char *read_stream(const char *bytes, size_t length, size_t piece)
{
    struct sse stream = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t at = 0; at < length; at += piece) {
        size_t take = length - at < piece ? length - at : piece;
        char *copy = malloc(take); /* so that the sanitizer sees one read too far */
        if (!copy)
            abort();
        memcpy(copy, bytes + at, take);
        FUZZ_CHECK(sse_feed(&stream, copy, take, on_event, out, NULL) == 0);
        free(copy);
    }
    (void)fclose(out);
    sse_release(&stream);
    return text;
}

void fuzz_one(struct fuzz_input *in)
{
    size_t piece = 1 + fuzz_byte(in) % 32, length;
    char *bytes = fuzz_bytes(in, &length);
    char *whole = read_stream(bytes, length, length > 0 ? length : 1);
    char *pieces = read_stream(bytes, length, piece);
    FUZZ_CHECK(strcmp(whole, pieces) == 0);
    free(whole);
    free(pieces);
    free(bytes);
}
