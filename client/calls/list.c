/* SPDX-License-Identifier: Apache-2.0 */
/* Every reservation, page by page. */

#include "client/fault.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "client/calls/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_SIZE = 1000, STATE_MAX = 32, QUERY_MAX = 256 + NAMES_NODE_MAX };

/* Where the listing stands. */
struct listing {
    mcast_reservation_fn *each;
    void *data;
    uint64_t left;    /* reservations that may still be shown */
    uint64_t after;   /* number of the last page's end */
    uint64_t *hidden; /* counted on; NULL: the list is of no node */
};

static int check(const struct mcast_filter *filter, struct mcast_error *error)
{
    const char *state = filter->state;
    if (filter->cluster && names_check_cluster(filter->cluster, error) < 0)
        return MCAST_USAGE;
    if (state && (strspn(state, "abcdefghijklmnopqrstuvwxyz-") != strlen(state) ||
                  strlen(state) > STATE_MAX))
        return fault_set(error, MCAST_USAGE, "'%.40s' is no state: active or releasing", state);
    return filter->node ? names_check_node(filter->node, error) : 0;
}

static void first_path(char path[QUERY_MAX], const struct mcast_filter *filter)
{
    uint64_t page = filter->limit > 0 && filter->limit < PAGE_SIZE ? filter->limit : PAGE_SIZE;
    int used = snprintf(path, QUERY_MAX, "/v1/jobs?limit=%llu", (unsigned long long)page);
    if (filter->cluster)
        used += snprintf(path + used, QUERY_MAX - (size_t)used, "&cluster=%s", filter->cluster);
    if (filter->state)
        used += snprintf(path + used, QUERY_MAX - (size_t)used, "&state=%s", filter->state);
    if (filter->uid != UINT32_MAX)
        used += snprintf(path + used, QUERY_MAX - (size_t)used, "&uid=%u", filter->uid);
    if (filter->node)
        snprintf(path + used, QUERY_MAX - (size_t)used, "&node=%s", filter->node);
}

/* The "after" of the next page. It must lie beyond this one's: a broker that points backwards would
 * keep us busy without end. */
static int advance(struct listing *listing, const char *next, struct mcast_error *error)
{
    const char *at = strstr(next, "after=");
    char *end = NULL;
    uint64_t after = at && at[6] >= '0' && at[6] <= '9' ? strtoull(at + 6, &end, 10) : 0;
    if (strncmp(next, "/v1/jobs?", 9) != 0 || after <= listing->after ||
        (*end != '\0' && *end != '&'))
        return field_fault(error, "next", "no link to a later page");
    listing->after = after;
    return 0;
}

/* A page for a node must tell it: who took what it sees for all could destroy what is in use. */
static int count_hidden(struct listing *listing, const json_t *root, struct mcast_error *error)
{
    uint64_t hidden = 0;
    int rc = listing->hidden
                 ? field_uint64(root, "hidden", FIELD_REQUIRED, UINT32_MAX, &hidden, error)
                 : 0;
    if (rc == 0 && listing->hidden)
        *listing->hidden += hidden;
    return rc;
}

static int show_page(struct listing *listing, const json_t *jobs, struct mcast_error *error)
{
    size_t index;
    json_t *job;
    json_array_foreach(jobs, index, job)
    {
        struct mcast_reservation *reservation = NULL;
        if (listing->left == 0)
            return 0;
        listing->left--;
        if (!json_is_object(job))
            return field_fault(error, "jobs", "not a list of objects");
        int rc = reservation_decode(json_incref(job), &reservation, error);
        if (rc == 0)
            rc = listing->each(reservation, listing->data);
        mcast_reservation_free(reservation);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* One page; *next is set when there is another, and then *root keeps it. */
static int fetch_page(struct mcast *handle, struct listing *listing, const char *path,
                      json_t **root, const char **next, struct mcast_error *error)
{
    struct call call = {0};
    struct result result = {0};
    json_t *jobs = NULL;
    *next = NULL;
    int made = call_set(&call, "GET", call_read_root, error, "%s", path);
    int rc = handle_run(handle, &call, made, &result, error);
    *root = result.root;
    if (rc < 0 || (rc = field_array(*root, "jobs", &jobs, error)) < 0)
        return rc;
    if (!jobs)
        return field_fault(error, "jobs", "missing");
    if ((rc = field_string(*root, "next", FIELD_OPTIONAL, next, error)) < 0 ||
        (*next && (rc = advance(listing, *next, error)) < 0) ||
        (rc = count_hidden(listing, *root, error)) < 0)
        return rc;
    rc = show_page(listing, jobs, error);
    if (listing->left == 0)
        *next = NULL;
    return rc;
}

int mcast_list(struct mcast *handle, const struct mcast_filter *filter, mcast_reservation_fn *each,
               void *data, struct mcast_error *error)
{
    struct mcast_filter mine = MCAST_FILTER_INIT;
    char first[QUERY_MAX];
    json_t *page = NULL, *previous = NULL;
    uint64_t hidden = 0;
    int rc = filter ? call_adopt(&mine, filter, "MCAST_FILTER_INIT", error) : 0;
    if (rc < 0 || (rc = check(&mine, error)) < 0)
        return rc;
    struct listing listing = {
        .each = each, .data = data, .left = mine.limit > 0 ? mine.limit : UINT64_MAX};
    listing.hidden = mine.node ? &hidden : NULL;
    first_path(first, &mine);
    const char *next = first;
    while (rc == 0 && next) {
        page = NULL;
        rc = fetch_page(handle, &listing, next, &page, &next, error);
        json_decref(previous); /* held the link that led to this page */
        previous = page;
    }
    json_decref(previous);
    if (mine.hidden)
        *mine.hidden = hidden;
    return rc;
}
