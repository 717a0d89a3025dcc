/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/sharedvnis.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct shared_vni *shared_by_vni(const struct shared_vnis *shared, uint16_t vni)
{
    assert(shared);
    struct shared_vni *one = shared->first;
    while (one && one->record.vni != vni)
        one = one->next;
    return one;
}

struct shared_vni *shared_by_name(const struct shared_vnis *shared, const char *name)
{
    assert(name);
    struct shared_vni *one = shared->first;
    while (one && (one->record.state == SHARED_QUARANTINED || strcmp(one->record.name, name) != 0))
        one = one->next;
    return one;
}

bool shared_allow(struct shared_vnis *shared, uint32_t uid, int64_t now_ms)
{
    const int64_t oldest = now_ms - (int64_t)SHARED_CHANGES_AT_ONCE * SHARED_CHANGE_EVERY_MS;
    int64_t *allowed_ms = &shared->allowed_ms[uid % SHARED_PACES];
    assert(now_ms > 0);
    if (*allowed_ms < oldest)
        *allowed_ms = oldest;
    if (*allowed_ms + SHARED_CHANGE_EVERY_MS > now_ms)
        return false;
    *allowed_ms += SHARED_CHANGE_EVERY_MS;
    return true;
}

uint32_t shared_of(const struct shared_vnis *shared, uint32_t uid)
{
    assert(shared);
    uint32_t count = 0;
    for (const struct shared_vni *one = shared->first; one; one = one->next)
        count += one->record.uid == uid;
    return count;
}

bool shared_list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at != '\0';) {
        const size_t next = strcspn(at, ",");
        if (next == length && memcmp(at, word, length) == 0)
            return true;
        at += next + (at[next] == ',');
    }
    return false;
}

bool shared_has_user(const struct shared_vni *one, uint32_t uid)
{
    assert(one);
    char word[16];
    if (uid == UID_UNKNOWN)
        return false;
    if (uid == one->record.uid || strcmp(one->record.users, "*") == 0)
        return true;
    (void)snprintf(word, sizeof word, "%u", uid);
    return shared_list_has(one->record.users, word);
}

bool shared_names_cluster(const struct shared_vni *one, const char *cluster)
{
    assert(one);
    return shared_list_has(one->record.clusters, cluster);
}

bool shared_has_cluster(const struct shared_vni *one, const char *cluster)
{
    assert(one);
    return one->record.clusters[0] == '\0' || shared_names_cluster(one, cluster);
}

bool shared_use(struct shared_vnis *shared, uint16_t vni, bool active, bool add)
{
    struct shared_vni *one = shared_by_vni(shared, vni);
    if (!one || (add && active && one->record.state == SHARED_QUARANTINED))
        return false;
    uint32_t *count = active ? &one->active : &one->quarantined;
    assert(add || *count > 0);
    *count = add ? *count + 1 : *count - 1;
    shared->changed |= !add;
    return true;
}
