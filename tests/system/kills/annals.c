/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/annals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORIES_FIRST = 4096 };

void annals_init(struct annals *annals, struct verdict *verdict)
{
    *annals = (struct annals){.verdict = verdict};
}

void annals_release(struct annals *annals)
{
    free(annals->prints);
    free(annals->stories);
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
        perror("annals");
        exit(1);
    }
    memset(longer + *room * size, 0, (more - *room) * size);
    *room = more;
    return longer;
}

struct story *annals_story(struct annals *annals, uint64_t number)
{
    annals->stories =
        grown(annals->stories, &annals->story_room, (size_t)number, sizeof *annals->stories);
    if (number > annals->highest)
        annals->highest = number;
    return &annals->stories[number];
}

static void begin(struct annals *annals, struct story *story, uint64_t number, const char *word)
{
    if (story->begun)
        verdict_fault(annals->verdict, "F24: reservation %llu began twice, now \"%s\"",
                      (unsigned long long)number, word);
    if (story->released)
        verdict_fault(annals->verdict, "F24: reservation %llu is \"%s\" after its release",
                      (unsigned long long)number, word);
    story->begun = true;
    story->reserved = strcmp(word, "reserved") == 0;
}

static void lose(struct annals *annals, struct story *story, uint64_t number)
{
    if (story->lost)
        verdict_fault(annals->verdict, "I4: reservation %llu is lost for the second time",
                      (unsigned long long)number);
    if (!story->reserved || story->released)
        verdict_fault(annals->verdict, "I4: reservation %llu is lost, and had nothing to lose",
                      (unsigned long long)number);
    story->lost = true;
    annals->lost++;
}

/* Nothing of ours is ever found as a stray, but what a test has planted: the reservation that it
 * was made for has forgotten it (F21). */
static void adopt(struct annals *annals, struct story *story, const json_t *event)
{
    const char *job = json_string_value(json_object_get(event, "job"));

    story->adopted = true;
    annals->adopted++;
    if (!annals->leftovers && (!job || strncmp(job, "stray", strlen("stray")) != 0))
        verdict_fault(annals->verdict, "F21: %s was left at the fabric manager, and forgotten",
                      job ? job : "a reservation");
}

static void tell(struct annals *annals, const json_t *event)
{
    const char *word = json_string_value(json_object_get(event, "event"));
    const uint64_t number = (uint64_t)json_integer_value(json_object_get(event, "number"));

    if (!word) {
        verdict_fault(annals->verdict, "F24: an event without a word");
        return;
    }
    annals->link_downs += strcmp(word, "link-down") == 0;
    if (number == 0)
        return;
    struct story *story = annals_story(annals, number);
    if (strcmp(word, "lost") == 0) {
        lose(annals, story, number);
    } else if (strcmp(word, "released") == 0) {
        if (story->released)
            verdict_fault(annals->verdict, "F24: reservation %llu is released for the second time",
                          (unsigned long long)number);
        story->released = true;
    } else if (strcmp(word, "adopted") == 0) {
        adopt(annals, story, event);
    } else {
        begin(annals, story, number, word);
    }
}

void annals_hear(struct annals *annals, uint64_t seq, const char *text, size_t length)
{
    const uint64_t print = print_of(text, length);

    annals->heard++;
    if (seq == 0 || seq > annals->count + 1) {
        verdict_fault(annals->verdict, "F24: event %llu comes after %zu", (unsigned long long)seq,
                      annals->count);
        return;
    }
    if (seq <= annals->count) {
        if (annals->prints[seq - 1] != print)
            verdict_fault(annals->verdict, "F24: event %llu is another one now: %.*s",
                          (unsigned long long)seq, (int)length, text);
        return;
    }
    annals->prints = grown(annals->prints, &annals->room, annals->count, sizeof *annals->prints);
    annals->prints[annals->count++] = print;
    json_t *event = json_loadb(text, length, 0, NULL);
    if ((uint64_t)json_integer_value(json_object_get(event, "seq")) != seq)
        verdict_fault(annals->verdict, "F24: event %llu is not what its id says: %.*s",
                      (unsigned long long)seq, (int)length, text);
    tell(annals, event);
    json_decref(event);
}
