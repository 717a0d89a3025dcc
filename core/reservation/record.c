/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/record.h"

#include "base/names.h"
#include "base/text.h"

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
static const char *const job_states[] = {[JOB_ACTIVE] = "active", [JOB_RELEASING] = "releasing"};
static const char *const wishes[] = {
    [WISH_AUTO] = "auto", [WISH_ON] = "on", [WISH_OFF] = "off", [WISH_REQUIRED] = "required"};
static const char *const classes[] = {[TC_DEDICATED_ACCESS] = "dedicated_access",
                                      [TC_LOW_LATENCY] = "low_latency",
                                      [TC_BULK_DATA] = "bulk_data",
                                      [TC_BEST_EFFORT] = "best_effort"};
static const char *const interconnects[] = {[INTERCONNECT_SLINGSHOT] = "slingshot",
                                            [INTERCONNECT_OMNIPATH] = "omnipath",
                                            [INTERCONNECT_NONE] = "none"};
static const char *const node_states[] = {[NODE_CREATED] = "created",
                                          [NODE_DESTROYED] = "destroyed",
                                          [NODE_LINGERING] = "lingering",
                                          [NODE_FENCED] = "fenced"};

/* The word of a value, and the value of a word up to the last one; NULL and 0 for any other. */
#define WORD(words, value) word_at(words, (int)(sizeof words / sizeof *words), value)

static const char *word_at(const char *const words[], int count, int value)
{
    assert(words && count > 0);
    assert(count > 0);
    return value >= 0 && value < count ? words[value] : NULL;
}

static int value_of(const char *const words[], int last, const char *text)
{
    assert(words && last >= 0);
    assert(text);
    while (last > 0 && (!words[last] || strcmp(words[last], text) != 0))
        last--;
    return last;
}

static const char *or_unknown(const char *word)
{
    return word ? word : "unknown";
}

const char *job_state_word(int state)
{
    return or_unknown(WORD(job_states, state));
}

const char *reservation_origin_word(int origin)
{
    static const char *const origins[] = {"job", "found", "claimed", "plugin"};
    return or_unknown(WORD(origins, origin));
}

const char *hwcoll_state_word(int state)
{
    return or_unknown(WORD(hwcoll_states, state));
}

const char *hwcoll_wish_word(int wish)
{
    return or_unknown(WORD(wishes, wish));
}

int hwcoll_wish_from_word(const char *word)
{
    return value_of(wishes, WISH_REQUIRED, word);
}

const char *traffic_class_word(int bit)
{
    return WORD(classes, bit);
}

int traffic_class_from_word(const char *word)
{
    return value_of(classes, TC_BEST_EFFORT, word);
}

const char *interconnect_word(int kind)
{
    return or_unknown(WORD(interconnects, kind));
}

int interconnect_from_word(const char *word)
{
    int kind = value_of(interconnects, INTERCONNECT_COUNT - 1, word);
    return strcmp(interconnects[kind], word) == 0 ? kind : -1;
}

const char *node_state_word(int state)
{
    return or_unknown(WORD(node_states, state));
}

int node_state_from_word(const char *word)
{
    return value_of(node_states, NODE_LINGERING, word);
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

int event_kind_from_word(const char *word)
{
    int kind = EVENT_KIND_COUNT - 1;
    assert(word);
    while (kind > EVENT_NONE && strcmp(events[kind].word, word) != 0)
        kind--;
    return kind;
}

int event_kind_fatal(int kind)
{
    return kind >= 0 && kind < EVENT_KIND_COUNT ? events[kind].fatal : 0;
}

bool event_is_of_shared(const struct event_record *event)
{
    assert(event);
    return !event->job && (event->kind == EVENT_VNI_SHARED || event->kind == EVENT_VNI_REMOVED ||
                           event->kind == EVENT_VNI_FOREIGN);
}

bool event_is_of_node(const struct event_record *event)
{
    assert(event);
    return event->node || (!event->job && event->kind == EVENT_FENCED);
}

const char *shared_state_word(int state)
{
    static const char *const states[] = {
        [SHARED_OPEN] = "open", [SHARED_CLOSED] = "closed", [SHARED_QUARANTINED] = "quarantined"};
    return or_unknown(WORD(states, state));
}

bool shared_name_valid(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
    const size_t length = strlen(name);
    return length > 0 && length <= SHARED_NAME_MAX && strspn(name, allowed) == length &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Words between commas, each valid. */
static bool every_word(const char *list, bool (*valid)(const char *word))
{
    assert(list && valid);
    char word[64];
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        if (length >= sizeof word)
            return false;
        memcpy(word, at, length);
        word[length] = '\0';
        if (!valid(word))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}

static bool is_uid(const char *word)
{
    assert(word);
    uint64_t uid;
    return text_number(word, 10, UID_UNKNOWN - 1, &uid) && (word[0] != '0' || word[1] == '\0');
}

bool shared_users_valid(const char *users)
{
    return strlen(users) <= SHARED_LIST_MAX &&
           (users[0] == '\0' || strcmp(users, "*") == 0 || every_word(users, is_uid));
}

bool shared_clusters_valid(const char *clusters)
{
    return strlen(clusters) <= SHARED_LIST_MAX &&
           (clusters[0] == '\0' || every_word(clusters, cluster_name_valid));
}
