/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix/facts.h"
#include "client/text.h"

#include <stdio.h>
#include <string.h>

enum kind { TEXT, WORDS, UINT32, UINT64, VNIS };

/* A new fact is a row here, and a key in mcast_pmix.h. */
static const struct {
    const char *key;
    enum kind kind;
    size_t at;
} facts[] = {
    {MCAST_PMIX_CLUSTER, TEXT, offsetof(struct mcast_reservation, cluster)},
    {MCAST_PMIX_JOB, TEXT, offsetof(struct mcast_reservation, job)},
    {MCAST_PMIX_NUMBER, UINT64, offsetof(struct mcast_reservation, number)},
    {MCAST_PMIX_INTERCONNECT, TEXT, offsetof(struct mcast_reservation, interconnect)},
    {MCAST_PMIX_VNIS, VNIS, 0},
    {MCAST_PMIX_CLASSES, WORDS, offsetof(struct mcast_reservation, traffic_classes)},
    {MCAST_PMIX_HWCOLL, TEXT, offsetof(struct mcast_reservation, hwcoll_state)},
    {MCAST_PMIX_ADDRESSES, UINT32, offsetof(struct mcast_reservation, hwcoll_addresses)},
    {MCAST_PMIX_NODES, TEXT, offsetof(struct mcast_reservation, nodes)},
    {MCAST_PMIX_NODE_COUNT, UINT32, offsetof(struct mcast_reservation, node_count)},
};

static bool add_word(struct text *text, const char *word)
{
    return (text->length == 0 || text_add(text, ",", 1)) && text_add(text, word, strlen(word));
}

static bool list_vnis(struct text *text, const struct mcast_reservation *reservation)
{
    char number[8];
    bool fits = true;
    for (size_t i = 0; fits && i < reservation->vni_count; i++) {
        snprintf(number, sizeof number, "%u", reservation->vnis[i]);
        fits = add_word(text, number);
    }
    return fits;
}

static bool list_words(struct text *text, const char *const *words)
{
    bool fits = true;
    for (size_t i = 0; fits && words && words[i]; i++)
        fits = add_word(text, words[i]);
    return fits;
}

static bool add_text(struct infos *infos, const char *key, const char *value)
{
    return !value || !value[0] || infos_add(infos, key, value, PMIX_STRING);
}

bool facts_add(struct infos *infos, const struct mcast_reservation *reservation)
{
    _Static_assert(sizeof facts / sizeof *facts <= FACTS_MAX, "room for all facts");
    bool fits = true;
    for (size_t i = 0; fits && i < sizeof facts / sizeof *facts; i++) {
        const char *key = facts[i].key;
        const char *member = (const char *)reservation + facts[i].at;
        struct text text = {0};
        switch (facts[i].kind) {
        case TEXT:
            fits = add_text(infos, key, *(const char *const *)(const void *)member);
            break;
        case UINT32:
            fits = infos_add(infos, key, member, PMIX_UINT32);
            break;
        case UINT64:
            fits = infos_add(infos, key, member, PMIX_UINT64);
            break;
        case WORDS:
            fits = list_words(&text, *(const char *const *const *)(const void *)member) &&
                   add_text(infos, key, text.bytes);
            break;
        case VNIS:
            fits = list_vnis(&text, reservation) && add_text(infos, key, text.bytes);
            break;
        }
        text_release(&text);
    }
    return fits;
}

bool fact_key(const char *key)
{
    return strncmp(key, "mcast.", 6) == 0 && strncmp(key, "mcast.node.", 11) != 0;
}
