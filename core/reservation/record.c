/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/record.h"

#include <assert.h>
#include <string.h>

static const char *const hwcoll_states[] = {
    [HWCOLL_OFF] = "off",
    [HWCOLL_INELIGIBLE] = "ineligible",
    [HWCOLL_WANTED] = "wanted",
    [HWCOLL_RESERVED] = "reserved",
    [HWCOLL_DENIED] = "denied",
    [HWCOLL_TIMEOUT] = "timeout",
    [HWCOLL_UNAVAILABLE] = "unavailable",
    [HWCOLL_LOST] = "lost",
    [HWCOLL_RELEASED] = "released",
};

const char *job_state_word(int state)
{
    return state == JOB_ACTIVE ? "active" : state == JOB_RELEASING ? "releasing" : "unknown";
}

const char *hwcoll_state_word(int state)
{
    return state >= HWCOLL_OFF && state <= HWCOLL_RELEASED ? hwcoll_states[state] : "unknown";
}

static const struct word {
    int value;
    const char *text;
} wishes[] = {{WISH_AUTO, "auto"}, {WISH_ON, "on"}, {WISH_OFF, "off"}, {WISH_REQUIRED, "required"}},
  classes[] = {{TC_DEDICATED_ACCESS, "dedicated_access"},
               {TC_LOW_LATENCY, "low_latency"},
               {TC_BULK_DATA, "bulk_data"},
               {TC_BEST_EFFORT, "best_effort"}};

enum { WISHES = sizeof wishes / sizeof *wishes, CLASSES = sizeof classes / sizeof *classes };

static const char *word_of(const struct word *words, int count, int value)
{
    for (int i = 0; i < count; i++) {
        if (words[i].value == value)
            return words[i].text;
    }
    return NULL;
}

static int value_of(const struct word *words, int count, const char *text)
{
    assert(text != NULL);
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i].text, text) == 0)
            return words[i].value;
    }
    return 0;
}

int hwcoll_wish_from_word(const char *word)
{
    return value_of(wishes, WISHES, word);
}

const char *traffic_class_word(int bit)
{
    return word_of(classes, CLASSES, bit);
}

int traffic_class_from_word(const char *word)
{
    return value_of(classes, CLASSES, word);
}

static const struct {
    const char *word;
    int fatal;
} events[] = {[EVENT_NONE] = {"unknown", 0},
#define EVENT_ROW_(name, word, fatal) [EVENT_##name] = {word, fatal},
              EVENT_KINDS(EVENT_ROW_)
#undef EVENT_ROW_
};

const char *event_kind_word(int kind)
{
    return kind >= 0 && kind < EVENT_KIND_COUNT ? events[kind].word : "unknown";
}

int event_kind_fatal(int kind)
{
    return kind >= 0 && kind < EVENT_KIND_COUNT ? events[kind].fatal : 0;
}

static const char *const node_states[] = {NULL, "created", "destroyed", "lingering", "fenced"};

const char *node_state_word(int state)
{
    return state >= NODE_CREATED && state <= NODE_FENCED ? node_states[state] : "unknown";
}

int node_state_from_word(const char *word)
{
    assert(word != NULL);
    for (int state = NODE_CREATED; state <= NODE_LINGERING; state++) {
        if (strcmp(word, node_states[state]) == 0)
            return state;
    }
    return 0;
}
