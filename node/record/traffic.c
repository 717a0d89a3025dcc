/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/traffic.h"

#include "base/memory.h"
#include "node/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- other jobs ---- */

/* Which jobs have met others is in the spool, in a file without a text: a note is changed only by
 * who has its job's lock. */
static bool is_marked(const struct node *node, uint64_t number)
{
    char name[NOTE_SHARED_SIZE], *text = NULL;
    const bool there = statedir_read(&node->dir, note_shared_name(name, number), &text, NULL) == 0;
    free(text);
    return there;
}

/* Once, as it waits for the disk. A note that has gone since takes no mark with it (note_remove).
 */
static void mark(const struct node *node, uint64_t number)
{
    char name[NOTE_SHARED_SIZE];
    struct note note;
    struct error err;
    if (is_marked(node, number))
        return;
    if (statedir_write(&node->dir, note_shared_name(name, number), "", &err) < 0)
        say("%s", err.text);
    else if (note_read(&node->dir, number, &note, NULL) == ERROR_NOT_FOUND)
        (void)statedir_remove(&node->dir, name, NULL);
}

/* Whether another job has services here, as far as this process knows; it learns of it, too. */
static bool meets_others(const struct node *node, const struct note *note)
{
    bool met = false;
    for (size_t i = 0; i < node->notes.count; i++) {
        const struct note *other = &node->notes.at[i];
        if (other->claim.number == note->claim.number || !note_is_current(other) ||
            (other->state != NOTE_MADE && other->state != NOTE_LINGERING))
            continue;
        met = true;
        if (other->state == NOTE_MADE && !other->traffic.shared)
            mark(node, other->claim.number);
    }
    return met;
}

/* ---- begin and end ---- */

void traffic_begin(struct node *node, struct note *note, const struct note *before)
{
    struct traffic *traffic = &note->traffic;
    if (before->claim.number == note->claim.number && note_is_current(before) &&
        before->traffic.begun && !before->traffic.ended) {
        *traffic = before->traffic;
        return;
    }
    *traffic = (struct traffic){0};
    if (!node->settings.report || !node->settings.traffic)
        return;
    traffic->begun = true;
    traffic->begun_ms = note_clock_ms();
    traffic->shared = meets_others(node, note);
    for (unsigned int i = 0; i < node->nics.count; i++) {
        snprintf(traffic->nics[i].device, NIC_NAME_SIZE, "%s", node->nics.at[i].name);
        counters_read(&node->settings, node->nics.at[i].name, &traffic->nics[i].at);
    }
    traffic->count = node->nics.count;
}

/* False: a counter is behind where it was, as after a reset, or cannot be read any more. */
static bool since(const struct counters *before, const struct counters *now, struct counters *out)
{
    *out = (struct counters){.known = before->known};
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++) {
        if (!(before->known >> kind & 1))
            continue;
        if (!(now->known >> kind & 1) || now->of[kind] < before->of[kind])
            return false;
        out->of[kind] = now->of[kind] - before->of[kind];
    }
    return true;
}

static void name_nic(struct traffic *traffic, const char *device, const struct counters *of)
{
    const uint8_t octets = 1 << TRAFFIC_TX_OCTETS | 1 << TRAFFIC_RX_OCTETS;
    const uint64_t moved = of->of[TRAFFIC_TX_OCTETS] + of->of[TRAFFIC_RX_OCTETS];
    if ((of->known & octets) == octets && moved <= INT64_MAX &&
        (!traffic->slowest[0] || moved < traffic->slowest_octets)) {
        snprintf(traffic->slowest, NIC_NAME_SIZE, "%s", device);
        traffic->slowest_octets = moved;
    }
    if (of->known >> TRAFFIC_PAUSED & 1 &&
        (!traffic->congested[0] || of->of[TRAFFIC_PAUSED] > traffic->congested_paused)) {
        snprintf(traffic->congested, NIC_NAME_SIZE, "%s", device);
        traffic->congested_paused = of->of[TRAFFIC_PAUSED];
    }
}

static void add(struct counters *sum, const struct counters *of)
{
    sum->known &= of->known;
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++) {
        const uint64_t room = (uint64_t)INT64_MAX - sum->of[kind];
        sum->of[kind] += of->of[kind] < room ? of->of[kind] : room;
    }
}

void traffic_end(struct node *node, struct note *note)
{
    struct traffic *traffic = &note->traffic;
    const char *unclear = NULL;
    if (!traffic->begun || traffic->ended || !note_is_current(note))
        return;
    const bool met = meets_others(node, note);
    traffic->shared |= met || is_marked(node, note->claim.number);
    traffic->seconds = (unsigned int)((note_clock_ms() - traffic->begun_ms) / 1000);
    traffic->sum = (struct counters){.known = (1 << TRAFFIC_KINDS) - 1};
    for (unsigned int i = 0; i < traffic->count; i++) {
        struct counters now, counted;
        counters_read(&node->settings, traffic->nics[i].device, &now);
        if (!since(&traffic->nics[i].at, &now, &counted)) {
            unclear = traffic->nics[i].device;
            traffic->unclear++;
            continue;
        }
        add(&traffic->sum, &counted);
        name_nic(traffic, traffic->nics[i].device, &counted);
    }
    if (traffic->unclear == traffic->count)
        traffic->sum.known = 0;
    traffic->ended = traffic->sum.known != 0 || traffic->unclear > 0;
    if (unclear)
        say("warning: job %s: what %u NIC%s counted is not known (%s: a counter was reset, or went "
            "away)",
            note->claim.name, traffic->unclear, traffic->unclear == 1 ? "" : "s", unclear);
}
