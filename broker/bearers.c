/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/bearers.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 256 };

/* In two lists: of its bucket by fingerprint, and of its bucket by number. */
struct entry {
    struct entry *print_next, *number_next;
    uint64_t number;
    struct fingerprint print;
};

struct bearers {
    struct fingerprint_key key;
    struct entry **by_print, **by_number;
    size_t buckets; /* of each; a power of two, at least as many as entries */
    size_t count;
};

struct bearers *bearers_create(const struct fingerprint_key *key)
{
    struct bearers *bearers = memory_zeroed(sizeof *bearers);
    bearers->key = *key;
    bearers->buckets = BUCKETS_MIN;
    bearers->by_print = memory_zeroed(BUCKETS_MIN * sizeof(struct entry *));
    bearers->by_number = memory_zeroed(BUCKETS_MIN * sizeof(struct entry *));
    return bearers;
}

void bearers_destroy(struct bearers *bearers)
{
    if (bearers == NULL)
        return;
    for (size_t i = 0; i < bearers->buckets; i++) {
        for (struct entry *entry = bearers->by_number[i], *next; entry != NULL; entry = next) {
            next = entry->number_next;
            free(entry);
        }
    }
    free(bearers->by_print);
    free(bearers->by_number);
    fingerprint_key_wipe(&bearers->key);
    free(bearers);
}

size_t bearers_count(const struct bearers *bearers)
{
    return bearers->count;
}

/* Fingerprints are MACs under a secret key, so clients cannot aim at a bucket, and its length says
 * nothing of a token. */
static size_t print_bucket(const struct fingerprint *print, size_t buckets)
{
    uint64_t bits;
    memcpy(&bits, print->bytes, sizeof bits);
    return (size_t)bits & (buckets - 1);
}

/* Numbers come one after the other. */
static size_t number_bucket(uint64_t number, size_t buckets)
{
    return (size_t)number & (buckets - 1);
}

static void link_entry(struct entry *entry, struct entry **by_print, struct entry **by_number,
                       size_t buckets)
{
    struct entry **print = &by_print[print_bucket(&entry->print, buckets)];
    struct entry **number = &by_number[number_bucket(entry->number, buckets)];
    entry->print_next = *print;
    entry->number_next = *number;
    *print = *number = entry;
}

static void grow_buckets(struct bearers *bearers)
{
    const size_t buckets = bearers->buckets * 2;
    struct entry **by_print = memory_zeroed(buckets * sizeof *by_print);
    struct entry **by_number = memory_zeroed(buckets * sizeof *by_number);
    for (size_t i = 0; i < bearers->buckets; i++) {
        for (struct entry *entry = bearers->by_number[i], *next; entry != NULL; entry = next) {
            next = entry->number_next;
            link_entry(entry, by_print, by_number, buckets);
        }
    }
    free(bearers->by_print);
    free(bearers->by_number);
    bearers->by_print = by_print;
    bearers->by_number = by_number;
    bearers->buckets = buckets;
}

/* Where the list by number points to the reservation's entry, or ends. */
static struct entry **place_of(const struct bearers *bearers, uint64_t number)
{
    struct entry **link = &bearers->by_number[number_bucket(number, bearers->buckets)];
    while (*link != NULL && (*link)->number != number)
        link = &(*link)->number_next;
    return link;
}

static void remove_token(struct bearers *bearers, uint64_t number)
{
    struct entry **link = place_of(bearers, number), *entry = *link;
    if (entry == NULL)
        return;
    *link = entry->number_next;
    link = &bearers->by_print[print_bucket(&entry->print, bearers->buckets)];
    while (*link != entry)
        link = &(*link)->print_next;
    *link = entry->print_next;
    free(entry);
    bearers->count--;
}

static void add_token(struct bearers *bearers, uint64_t number, struct secret token)
{
    struct fingerprint print;
    const struct entry *entry = *place_of(bearers, number);
    /* Without it the job is as it would be without a broker: its token opens the fabric manager. */
    if (fingerprint_compute(&bearers->key, token, &print, NULL) < 0) {
        remove_token(bearers, number);
        return;
    }
    if (entry != NULL && fingerprint_equal(&entry->print, &print))
        return;
    remove_token(bearers, number);
    if (bearers->count == bearers->buckets)
        grow_buckets(bearers);
    struct entry *added = memory_zeroed(sizeof *added);
    added->number = number;
    added->print = print;
    link_entry(added, bearers->by_print, bearers->by_number, bearers->buckets);
    bearers->count++;
}

void bearers_follow(struct bearers *bearers, const struct record *record)
{
    const struct reservation_record *reservation = &record->u.reservation;
    if (record->kind == RECORD_GONE)
        remove_token(bearers, record->u.gone);
    else if (record->kind == RECORD_RESERVATION && !secret_none(reservation->token))
        add_token(bearers, reservation->number, reservation->token);
    else if (record->kind == RECORD_RESERVATION && reservation->state != JOB_RELEASING)
        remove_token(bearers, reservation->number);
}

uint64_t bearers_find(const struct bearers *bearers, struct secret token)
{
    struct fingerprint print;
    uint64_t number = 0;
    if (bearers->count == 0 || fingerprint_compute(&bearers->key, token, &print, NULL) < 0)
        return 0;
    const struct entry *entry = bearers->by_print[print_bucket(&print, bearers->buckets)];
    for (; entry != NULL; entry = entry->print_next)
        if (fingerprint_equal(&entry->print, &print) && entry->number > number)
            number = entry->number;
    return number;
}
