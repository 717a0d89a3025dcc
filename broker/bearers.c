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

struct bucket {
    struct entry *by_print, *by_number;
};

struct bearers {
    struct fingerprint_key *key;
    struct bucket *buckets;
    size_t room; /* buckets: a power of two, at least as many as entries */
    size_t count;
};

/* Fingerprints are MACs under a secret key, so clients cannot aim at a bucket, and its length says
 * nothing of a token. */
static struct entry **print_list(const struct bearers *bearers, const struct fingerprint *print)
{
    uint64_t bits;
    memcpy(&bits, print->bytes, sizeof bits);
    return &bearers->buckets[bits & (bearers->room - 1)].by_print;
}

/* Numbers come one after the other. */
static struct entry **number_list(const struct bearers *bearers, uint64_t number)
{
    return &bearers->buckets[number & (bearers->room - 1)].by_number;
}

static void link_entry(struct bearers *bearers, struct entry *entry)
{
    struct entry **print = print_list(bearers, &entry->print);
    struct entry **number = number_list(bearers, entry->number);
    entry->print_next = *print;
    entry->number_next = *number;
    *print = *number = entry;
}

static void resize_buckets(struct bearers *bearers, size_t room)
{
    const struct bearers old = *bearers;
    bearers->room = room;
    bearers->buckets = memory_zeroed(room * sizeof *bearers->buckets);
    for (size_t i = 0; i < old.room; i++) {
        for (struct entry *entry = old.buckets[i].by_number, *next; entry; entry = next) {
            next = entry->number_next;
            link_entry(bearers, entry);
        }
    }
    free(old.buckets);
}

struct bearers *bearers_create(const struct chain *key)
{
    struct bearers *bearers = memory_zeroed(sizeof *bearers);
    bearers->key = fingerprint_key_create(key);
    resize_buckets(bearers, BUCKETS_MIN);
    return bearers;
}

void bearers_destroy(struct bearers *bearers)
{
    if (!bearers)
        return;
    for (size_t i = 0; i < bearers->room; i++) {
        for (struct entry *entry = bearers->buckets[i].by_number, *next; entry; entry = next) {
            next = entry->number_next;
            free(entry);
        }
    }
    free(bearers->buckets);
    fingerprint_key_destroy(bearers->key);
    free(bearers);
}

/* Where the list by number points to the reservation's entry, or ends. */
static struct entry **place_of(const struct bearers *bearers, uint64_t number)
{
    struct entry **link = number_list(bearers, number);
    while (*link && (*link)->number != number)
        link = &(*link)->number_next;
    return link;
}

static void remove_token(struct bearers *bearers, uint64_t number)
{
    struct entry **link = place_of(bearers, number), *entry = *link;
    if (!entry)
        return;
    *link = entry->number_next;
    link = print_list(bearers, &entry->print);
    while (*link != entry)
        link = &(*link)->print_next;
    *link = entry->print_next;
    free(entry);
    bearers->count--;
}

static void add_token(struct bearers *bearers, uint64_t number, struct secret token)
{
    const struct fingerprint print = fingerprint_compute(bearers->key, token);
    const struct entry *entry = *place_of(bearers, number);
    if (entry && fingerprint_equal(&entry->print, &print))
        return;
    remove_token(bearers, number);
    if (bearers->count == bearers->room)
        resize_buckets(bearers, 2 * bearers->room);
    struct entry *added = memory_zeroed(sizeof *added);
    added->number = number;
    added->print = print;
    link_entry(bearers, added);
    bearers->count++;
}

/* What the job has to show: its tasks know the session token, or the key of a relayed job. */
static struct secret token_of(const struct reservation_record *reservation)
{
    return key_relays(reservation->interconnect, reservation->key) ? reservation->key
                                                                   : reservation->token;
}

void bearers_follow(struct bearers *bearers, const struct record *record)
{
    const struct reservation_record *reservation = &record->u.reservation;
    const struct secret shown =
        record->kind == RECORD_RESERVATION ? token_of(reservation) : (struct secret){0};
    if (record->kind == RECORD_GONE)
        remove_token(bearers, record->u.gone);
    else if (!secret_none(shown))
        add_token(bearers, reservation->number, shown);
    else if (record->kind == RECORD_RESERVATION && reservation->state != JOB_RELEASING)
        remove_token(bearers, reservation->number);
}

uint64_t bearers_find(const struct bearers *bearers, struct secret token)
{
    uint64_t number = 0;
    if (bearers->count == 0)
        return 0;
    const struct fingerprint print = fingerprint_compute(bearers->key, token);
    const struct entry *entry = *print_list(bearers, &print);
    for (; entry; entry = entry->print_next)
        if (fingerprint_equal(&entry->print, &print) && entry->number > number)
            number = entry->number;
    return number;
}
