/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/subscriber.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct subscriber {
    struct history *history;
    const struct fleet *fleet;
    unsigned broker; /* that it is connected to */
    CURLM *multi;
    CURL *easy;
    bool connected;
    uint64_t last;
    char *text; /* what came of an event that is not whole yet */
    size_t length, room;
};

struct subscriber *subscriber_create(struct history *history, const struct fleet *fleet)
{
    struct subscriber *subscriber = calloc(1, sizeof *subscriber);

    if (!subscriber)
        return NULL;
    subscriber->history = history;
    subscriber->fleet = fleet;
    subscriber->multi = curl_multi_init();
    subscriber->easy = curl_easy_init();
    if (!subscriber->multi || !subscriber->easy) {
        subscriber_destroy(subscriber);
        return NULL;
    }
    return subscriber;
}

void subscriber_leave(struct subscriber *subscriber)
{
    if (subscriber->connected)
        curl_multi_remove_handle(subscriber->multi, subscriber->easy);
    subscriber->connected = false;
    subscriber->length = 0; /* half an event is none */
}

void subscriber_destroy(struct subscriber *subscriber)
{
    if (!subscriber)
        return;
    subscriber_leave(subscriber);
    curl_easy_cleanup(subscriber->easy);
    curl_multi_cleanup(subscriber->multi);
    free(subscriber->text);
    free(subscriber);
}

void subscriber_replay(struct subscriber *subscriber, uint64_t events)
{
    subscriber_leave(subscriber);
    subscriber->last -= subscriber->last < events ? subscriber->last : events;
}

/* One event, up to its empty line: "id: 7\nevent: reserved\ndata: {…}\n", or a comment. */
static void take_event(struct subscriber *subscriber, char *text)
{
    struct verdict *verdict = subscriber->history->verdict;
    const char *data = strstr(text, "\ndata: ");

    if (text[0] == ':')
        return;
    if (strncmp(text, "id: ", 4) != 0 || !data) {
        verdict_fault(verdict, "F24: a gap, or no event: %s", text);
        return;
    }
    const uint64_t seq = strtoull(text + 4, NULL, 10);
    data += strlen("\ndata: ");
    if (seq != subscriber->last + 1)
        verdict_fault(verdict, "F24: event %" PRIu64 " comes after %" PRIu64, seq,
                      subscriber->last);
    subscriber->last = seq;
    history_hear(subscriber->history, seq, data, strlen(data));
}

static size_t take(char *data, size_t size, size_t count, void *arg)
{
    struct subscriber *subscriber = arg;
    const size_t length = size * count;

    if (subscriber->length + length + 1 > subscriber->room) {
        const size_t room = (subscriber->length + length + 1) * 2;
        char *longer = realloc(subscriber->text, room);

        if (!longer)
            return 0;
        subscriber->text = longer;
        subscriber->room = room;
    }
    memcpy(subscriber->text + subscriber->length, data, length);
    subscriber->length += length;
    subscriber->text[subscriber->length] = '\0';
    char *from = subscriber->text;
    for (char *end; (end = strstr(from, "\n\n")); from = end + 2) {
        *end = '\0';
        take_event(subscriber, from);
    }
    subscriber->length -= (size_t)(from - subscriber->text);
    memmove(subscriber->text, from, subscriber->length + 1);
    return length;
}

static void come(struct subscriber *subscriber)
{
    char url[96];

    subscriber->broker = fleet_at(subscriber->fleet);
    snprintf(url, sizeof url, "http://mcastd/v1/events?after=%" PRIu64, subscriber->last);
    curl_easy_setopt(subscriber->easy, CURLOPT_URL, url);
    curl_easy_setopt(subscriber->easy, CURLOPT_UNIX_SOCKET_PATH,
                     fleet_socket(subscriber->fleet, subscriber->broker));
    curl_easy_setopt(subscriber->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(subscriber->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(subscriber->easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(subscriber->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(subscriber->easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(subscriber->easy, CURLOPT_WRITEDATA, subscriber);
    subscriber->connected = curl_multi_add_handle(subscriber->multi, subscriber->easy) == CURLM_OK;
}

void subscriber_turn(struct subscriber *subscriber)
{
    int running = 0, left;

    /* One that was stopped would keep it for ever. */
    if (subscriber->connected && subscriber->broker != fleet_at(subscriber->fleet))
        subscriber_leave(subscriber);
    if (!subscriber->connected)
        come(subscriber);
    curl_multi_perform(subscriber->multi, &running);
    while (curl_multi_info_read(subscriber->multi, &left))
        ;
    if (running == 0)
        subscriber_leave(subscriber);
}

uint64_t subscriber_last(const struct subscriber *subscriber)
{
    return subscriber->last;
}
