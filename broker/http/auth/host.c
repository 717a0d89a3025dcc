/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/host.h"

#include "base/names.h"

#include <assert.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct entry {
    struct entry *next; /* of the same bucket */
    struct entry *older, *newer;
    int64_t put_ms;
    struct host host;
    char name[];
};

struct hostcache {
    size_t max, count, bucket_count;
    struct entry *oldest, *newest;
    struct entry *buckets[];
};

struct hostcache *hostcache_create(size_t names_max)
{
    assert(names_max > 0);
    struct hostcache *cache = calloc(1, sizeof *cache + names_max * sizeof(struct entry *));
    if (!cache)
        return NULL;
    cache->max = cache->bucket_count = names_max;
    return cache;
}

void hostcache_destroy(struct hostcache *cache)
{
    if (cache)
        hostcache_clear(cache);
    free(cache);
}

/* Where the pointer to the entry of this name is, or would be. */
static struct entry **place_of(struct hostcache *cache, const char *name)
{
    struct entry **place = &cache->buckets[name_hash("", name) % cache->bucket_count];
    while (*place && strcmp((*place)->name, name) != 0)
        place = &(*place)->next;
    return place;
}

static void forget_entry(struct hostcache *cache, struct entry *entry)
{
    *place_of(cache, entry->name) = entry->next;
    if (entry->older)
        entry->older->newer = entry->newer;
    else
        cache->oldest = entry->newer;
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        cache->newest = entry->older;
    cache->count--;
    free(entry);
}

void hostcache_put(struct hostcache *cache, const char *name, const struct host *host,
                   int64_t now_ms)
{
    struct entry *old = *place_of(cache, name);
    size_t size = strlen(name) + 1;
    assert(host->state != HOST_UNANSWERED);
    if (old)
        forget_entry(cache, old);
    else if (cache->count == cache->max)
        forget_entry(cache, cache->oldest);
    struct entry *entry = malloc(sizeof *entry + size);
    if (!entry)
        return;
    struct entry **place = place_of(cache, name);
    *entry = (struct entry){.older = cache->newest, .put_ms = now_ms, .host = *host};
    memcpy(entry->name, name, size);
    *place = entry;
    if (cache->newest)
        cache->newest->newer = entry;
    else
        cache->oldest = entry;
    cache->newest = entry;
    cache->count++;
}

const struct host *hostcache_get(const struct hostcache *cache, const char *name,
                                 struct in_addr address, int64_t now_ms)
{
    const struct entry *entry = cache->buckets[name_hash("", name) % cache->bucket_count];
    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    if (!entry)
        return NULL;
    int64_t life = host_has(&entry->host, address) ? HOSTCACHE_YES_MS : HOSTCACHE_NO_MS;
    return now_ms - entry->put_ms < life ? &entry->host : NULL;
}

void hostcache_clear(struct hostcache *cache)
{
    while (cache->oldest)
        forget_entry(cache, cache->oldest);
}

/* An answer that asking again in a moment would not change. */
static bool is_definite(int code)
{
    return code == EAI_NONAME || code == EAI_NODATA || code == EAI_ADDRFAMILY;
}

void host_resolve(const char *name, struct host *out)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    *out = (struct host){.state = HOST_FOUND};
    int code = getaddrinfo(name, NULL, &hints, &found);
    if (code != 0) {
        out->state = is_definite(code) ? HOST_UNKNOWN : HOST_UNANSWERED;
        out->words = gai_strerror(code);
        return;
    }
    for (const struct addrinfo *at = found; at && out->count < HOST_ADDRESSES_MAX;
         at = at->ai_next) {
        struct sockaddr_in address;
        memcpy(&address, at->ai_addr, sizeof address);
        out->addresses[out->count++] = address.sin_addr;
    }
    freeaddrinfo(found);
}

bool host_has(const struct host *host, struct in_addr address)
{
    for (unsigned i = 0; i < host->count; i++)
        if (host->addresses[i].s_addr == address.s_addr)
            return true;
    return false;
}
