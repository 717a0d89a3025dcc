/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/call.h"

#include "base/memory.h"
#include "fmapi/wire/baseurl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A server whose links never end must not keep us for ever: calls' time that a whole list has. */
enum { LIST_CALLS = 6 };

struct list {
    struct fmapi *api;
    const char *base; /* where all its pages are asked for */
    char **seen;      /* links of the pages asked for, to notice one that comes again */
    size_t pages;
    uint64_t names;
    int64_t claimed; /* the total that a page claimed, -1 when none did */
    uint64_t started_ns;
    bool hurried; /* the page asked for last had less time than a call's */
    fmapi_page_fn *page;
    fmapi_call_fn *done;
    void *arg;
};

static void on_page(void *arg, const struct transport_answer *answer);

static void list_release(struct list *list)
{
    for (size_t i = 0; i < list->pages; i++)
        free(list->seen[i]);
    free(list->seen);
    free(list);
}

static void finish_list(struct list *list, enum fmcall_outcome outcome, int status,
                        const char *words)
{
    list->api->in_flight--;
    if (!list->api->closing)
        list->done(list->arg, &(struct fmapi_reply){
                                  .outcome = outcome,
                                  .words = words,
                                  .status = status,
                                  .took_us = (int64_t)((uv_hrtime() - list->started_ns) / 1000)});
    list_release(list);
}

__attribute__((format(printf, 3, 4))) static void
finish_list_incomplete(struct list *list, int status, const char *format, ...)
{
    char words[DECODE_WORDS_SIZE];
    int length = snprintf(words, sizeof words, "HTTP %d: the list is not whole: ", status);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(words + length, sizeof words - (size_t)length, format, args);
    va_end(args);
    finish_list(list, FM_BUSY, status, words);
}

/* Milliseconds that the whole list still has; not positive when its time is up. */
static int64_t left_ms(const struct list *list)
{
    return LIST_CALLS * list->api->options.timeout_ms -
           (int64_t)((uv_hrtime() - list->started_ns) / 1000000);
}

static void finish_list_late(struct list *list, int status)
{
    char words[DECODE_WORDS_SIZE];
    (void)snprintf(words, sizeof words,
                   "%.64s: the list did not end in %" PRId64 " ms; page %zu was asked for last",
                   list->base, LIST_CALLS * list->api->options.timeout_ms, list->pages);
    finish_list(list, FM_TIMEOUT, status, words);
}

/* Asks for a page; takes url, NULL for the first. */
static void request_next_page(struct list *list, char *url)
{
    struct request request = request_page(list->base, url);
    const int64_t left = left_ms(list), call = list->api->options.timeout_ms;
    list->seen = memory_resized(list->seen, list->pages + 1, sizeof *list->seen);
    list->seen[list->pages++] = memory_text(request.url);
    list->hurried = left < call;
    attempt_send(list->api, &request, (struct secret){0}, list->hurried ? left : call, on_page,
                 list);
}

/* documentCount is the page's own number with some servers and the whole list's with others: the
 * former must match here, the latter at the end, and all pages must agree on it. */
static bool count_agrees(struct list *list, const struct decoded_page *page)
{
    if (page->claimed < 0 || (uint64_t)page->claimed == page->count)
        return true;
    if (list->claimed < 0)
        list->claimed = page->claimed;
    return list->claimed == page->claimed;
}

/* The number of the page that has this URL, 0 when none had it yet. */
static size_t seen_before(const struct list *list, const char *url)
{
    for (size_t i = 0; i < list->pages; i++)
        if (strcmp(list->seen[i], url) == 0)
            return i + 1;
    return 0;
}

static void follow_next_link(struct list *list, const char *link, int status)
{
    char *url = baseurl_resolve(list->base, link);
    size_t before = url ? seen_before(list, url) : 0;
    if (url && before == 0 && list->pages < FMAPI_LIST_PAGES_MAX && left_ms(list) > 0) {
        request_next_page(list, url);
        return;
    }
    if (!url)
        finish_list_incomplete(list, status, "nextPageLink leads away from the fabric manager");
    else if (before > 0)
        finish_list_incomplete(list, status, "page %zu comes again", before);
    else if (list->pages == FMAPI_LIST_PAGES_MAX)
        finish_list_incomplete(list, status, "more than %d pages", FMAPI_LIST_PAGES_MAX);
    else
        finish_list_late(list, status);
    free(url);
}

static void accept_page(struct list *list, const struct decoded_page *page, int status)
{
    if (!count_agrees(list, page)) {
        finish_list_incomplete(list, status, "pages claim %" PRId64 " and %" PRId64 " jobs",
                               list->claimed, page->claimed);
        return;
    }
    if (page->count > FMAPI_LIST_NAMES_MAX - list->names) {
        finish_list_incomplete(list, status, "more than %d names", FMAPI_LIST_NAMES_MAX);
        return;
    }
    list->names += page->count;
    if (page->count > 0)
        list->page(list->arg, (const char *const *)page->names, page->count);

    if (list->api->closing) /* page may have called fmapi_destroy */
        finish_list(list, FM_BUSY, status, "");
    else if (page->next)
        follow_next_link(list, page->next, status);
    else if (list->claimed >= 0 && (uint64_t)list->claimed != list->names)
        finish_list_incomplete(list, status,
                               "documentCount is %" PRId64 ", the pages hold %" PRIu64,
                               list->claimed, list->names);
    else
        finish_list(list, FM_OK, status, "HTTP 200");
}

static void on_page(void *arg, const struct transport_answer *answer)
{
    struct list *list = arg;
    struct decoded_page page;
    enum fmcall_outcome outcome;
    char words[DECODE_WORDS_SIZE] = "";
    if (answer->end == TRANSPORT_CANCELLED || list->api->closing) {
        finish_list(list, FM_BUSY, 0, "");
        return;
    }
    if ((answer->end == TRANSPORT_TIMEOUT && list->hurried) ||
        (answer->end != TRANSPORT_ANSWERED && left_ms(list) <= 0)) {
        finish_list_late(list, answer->status);
        return;
    }
    if (answer->end != TRANSPORT_ANSWERED) {
        outcome = call_describe_end(words, list->api, list->base, answer);
        finish_list(list, outcome, answer->status, words);
        return;
    }
    outcome =
        decode_page(&page, answer->status, answer->body, answer->length, &answer->secrets, words);
    if (outcome == FM_OK)
        accept_page(list, &page, answer->status);
    else
        finish_list(list, outcome, answer->status,
                    answer->words[0] != '\0' ? answer->words : words);
    decoded_page_release(&page);
}

void fmapi_list(struct fmapi *api, fmapi_page_fn *page, fmapi_call_fn *done, void *arg)
{
    struct list *list = memory_zeroed(sizeof *list);
    assert(!api->closing);
    *list = (struct list){.api = api,
                          .base = api->base,
                          .claimed = -1,
                          .started_ns = uv_hrtime(),
                          .page = page,
                          .done = done,
                          .arg = arg};
    request_next_page(list, NULL);
    api->in_flight++;
}
