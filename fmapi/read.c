/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/call.h"

#include "base/memory.h"
#include "fmapi/wire/baseurl.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* A GET of what is not about jobs: its body is the caller's to decode. */

struct read {
    struct fmapi *api;
    const char *base;
    fmapi_read_fn *done;
    void *arg;
};

static void on_answer(void *arg, const struct transport_answer *answer)
{
    struct read *read = arg;
    struct fmapi *api = read->api;
    struct fmapi_body body = {.status = answer->status};
    char words[DECODE_WORDS_SIZE] = "";
    api->in_flight--;
    if (answer->end != TRANSPORT_CANCELLED && !api->closing) {
        if (answer->end != TRANSPORT_ANSWERED) {
            body.outcome = call_describe_end(words, api, read->base, answer);
            body.too_long = answer->end == TRANSPORT_TOO_LONG;
        } else if (answer->status == 200) {
            body.outcome = FM_OK;
            body.data = answer->body;
            body.length = answer->length;
        } else {
            struct decoded_page page;
            body.outcome = decode_page(&page, answer->status, answer->body, answer->length,
                                       &answer->secrets, words);
            if (body.outcome == FM_OK)
                body.outcome = FM_BUSY;
            decoded_page_release(&page);
        }
        body.words = answer->words[0] != '\0' && words[0] == '\0' ? answer->words : words;
        read->done(read->arg, &body);
    }
    free(read);
}

bool fmapi_read(struct fmapi *api, const char *link, fmapi_read_fn *done, void *arg)
{
    char *url = baseurl_resolve(api->base, link);
    assert(!api->closing);
    if (!url)
        return false;
    struct request request = request_page(api->base, url);
    struct read *read = memory_zeroed(sizeof *read);
    *read = (struct read){.api = api, .base = api->base, .done = done, .arg = arg};
    attempt_send(api, &request, (struct secret){0}, api->options.timeout_ms, on_answer, read);
    api->in_flight++;
    return true;
}
