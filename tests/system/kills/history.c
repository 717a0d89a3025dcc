/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORIES_FIRST = 4096 };

void history_init(struct history *history, struct verdict *verdict)
{
    *history = (struct history){.verdict = verdict};
}

void history_release(struct history *history)
{
    free(history->prints);
    free(history->stories);
}

/* FNV-1a: two events that differ are told apart, for all that matters here. */
static uint64_t print_of(const char *text, size_t length)
{
    uint64_t print = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        print = (print ^ (unsigned char)text[i]) * 0x100000001b3u;
    return print;
}

static void *grown(void *array, size_t *room, size_t needed, size_t size)
{
    size_t more = *room ? *room : STORIES_FIRST;

    while (more <= needed)
        more *= 2;
    if (more == *room)
        return array;
    char *longer = realloc(array, more * size);
    if (!longer) {
        perror("history");
        exit(1);
    }
    memset(longer + *room * size, 0, (more - *room) * size);
    *room = more;
    return longer;
}

struct story *history_story(struct history *history, uint64_t number)
{
    history->stories =
        grown(history->stories, &history->story_room, (size_t)number, sizeof *history->stories);
    if (number > history->highest)
        history->highest = number;
    return &history->stories[number];
}

static void begin(struct history *history, struct story *story, uint64_t number, const char *word)
{
    if (story->begun)
        verdict_fault(history->verdict, "F24: reservation %llu began twice, now \"%s\"",
                      (unsigned long long)number, word);
    if (story->released)
        verdict_fault(history->verdict, "F24: reservation %llu is \"%s\" after its release",
                      (unsigned long long)number, word);
    story->begun = true;
    story->reserved = strcmp(word, "reserved") == 0;
}

static void lose(struct history *history, struct story *story, uint64_t number)
{
    if (story->lost)
        verdict_fault(history->verdict, "I4: reservation %llu is lost for the second time",
                      (unsigned long long)number);
    if (!story->reserved || story->released)
        verdict_fault(history->verdict, "I4: reservation %llu is lost, and had nothing to lose",
                      (unsigned long long)number);
    story->lost = true;
    history->lost++;
}

/* Nothing of ours is ever found as a stray, but what a test has planted, and what the fabric
 * manager's double, on a busy machine, made later than the broker waits for, which it deletes then:
 * the reservation that it was made for has forgotten it (F21). */
static void adopt(struct history *history, struct story *story, const json_t *event)
{
    const char *job = json_string_value(json_object_get(event, "job"));

    const char *detail = json_string_value(json_object_get(event, "detail"));

    story->adopted = true;
    history->adopted++;
    if (detail && strcmp(detail, "reserved late") == 0)
        history->late++;
    else if (!history->leftovers && (!job || strncmp(job, "stray", strlen("stray")) != 0))
        verdict_fault(history->verdict, "F21: %s was left at the fabric manager, and forgotten",
                      job ? job : "a reservation");
}

static void tell(struct history *history, const json_t *event)
{
    const char *word = json_string_value(json_object_get(event, "event"));
    const uint64_t number = (uint64_t)json_integer_value(json_object_get(event, "number"));

    if (!word) {
        verdict_fault(history->verdict, "F24: an event without a word");
        return;
    }
    history->link_downs += strcmp(word, "link-down") == 0;
    if (number == 0)
        return;
    struct story *story = history_story(history, number);
    if (strcmp(word, "lost") == 0) {
        lose(history, story, number);
    } else if (strcmp(word, "released") == 0) {
        if (story->released)
            verdict_fault(history->verdict, "F24: reservation %llu is released for the second time",
                          (unsigned long long)number);
        story->released = true;
    } else if (strcmp(word, "adopted") == 0) {
        adopt(history, story, event);
    } else {
        begin(history, story, number, word);
    }
}

void history_hear(struct history *history, uint64_t seq, const char *text, size_t length)
{
    const uint64_t print = print_of(text, length);

    history->heard++;
    if (seq == 0 || seq > history->count + 1) {
        verdict_fault(history->verdict, "F24: event %llu comes after %zu", (unsigned long long)seq,
                      history->count);
        return;
    }
    if (seq <= history->count) {
        if (history->prints[seq - 1] != print)
            verdict_fault(history->verdict, "F24: event %llu is another one now: %.*s",
                          (unsigned long long)seq, (int)length, text);
        return;
    }
    history->prints =
        grown(history->prints, &history->room, history->count, sizeof *history->prints);
    history->prints[history->count++] = print;
    json_t *event = json_loadb(text, length, 0, NULL);
    if ((uint64_t)json_integer_value(json_object_get(event, "seq")) != seq)
        verdict_fault(history->verdict, "F24: event %llu is not what its id says: %.*s",
                      (unsigned long long)seq, (int)length, text);
    tell(history, event);
    json_decref(event);
}
