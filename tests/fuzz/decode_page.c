/* SPDX-License-Identifier: Apache-2.0 */
/* One page of the fabric manager's list (fmapi/wire/decode.h, baseurl.h): two bytes for the status,
 * then the body. */

#include "fmapi/wire/baseurl.h"
#include "fmapi/wire/decode.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct secrets secrets = {.values = {"Tr0ub4dor&3", "Y3hpOlRyMHViNGRvciYz"},
                                       .count = 2};
static const char base[] = "https://api-gw/apis/fabric-manager";

static void check_page(const struct decoded_page *page, const json_t *object)
{
    const json_t *links = json_object_get(object, "documentLinks");
    FUZZ_CHECK(json_is_array(links) && json_array_size(links) == page->count);
    for (size_t i = 0; i < page->count; i++) {
        const char *link = json_string_value(json_array_get(links, i));
        FUZZ_CHECK(link && page->names[i][0] != '\0');
        FUZZ_CHECK(strlen(page->names[i]) <= strlen(link));
        /* Without an escape it is what the link ends in. */
        if (!strchr(link, '%'))
            FUZZ_CHECK(strcmp(link + strlen(link) - strlen(page->names[i]), page->names[i]) == 0);
    }
    FUZZ_CHECK(page->claimed >= -1);
    char *next = page->next ? baseurl_resolve(base, page->next) : NULL;
    FUZZ_CHECK(!next || (strncmp(next, base, strlen(base)) == 0 && fuzz_is_line(next)) ||
               strncasecmp(next, base, strlen("https://api-gw")) == 0);
    free(next);
}

void fuzz_one(struct fuzz_input *in)
{
    int status = 100 + fuzz_pair(in) % 500;
    struct decoded_page page;
    char words[DECODE_WORDS_SIZE] = "";
    size_t length;
    char *body = fuzz_bytes(in, &length);
    enum fmcall_outcome outcome = decode_page(&page, status, body, length, &secrets, words);
    json_t *object = length > 0 ? json_loadb(body, length, 0, NULL) : NULL;
    if (outcome == FM_OK) {
        FUZZ_CHECK(status >= 200 && status <= 299);
        check_page(&page, object);
    } else {
        FUZZ_CHECK(outcome == FM_BUSY || outcome == FM_DENIED || outcome == FM_UNAUTHORIZED ||
                   outcome == FM_NOT_ROUTED);
        FUZZ_CHECK(page.count == 0 && !page.names && !page.next && page.claimed == -1);
        FUZZ_CHECK(words[0] != '\0' && fuzz_is_line(words));
        for (size_t i = 0; i < secrets.count; i++)
            FUZZ_CHECK(!strstr(words, secrets.values[i]));
    }
    decoded_page_release(&page);
    json_decref(object);
    free(body);
}
