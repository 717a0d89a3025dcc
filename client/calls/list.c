/* SPDX-License-Identifier: Apache-2.0 */
/* Every reservation, page by page. */

#include "client/calls/field.h"
#include "client/text.h"
#include "client/handle.h"

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

static int check_filter(const struct mcast_filter *filter, struct mcast_error *error)
{
    const char *state = filter->state;
    if (filter->cluster && names_check_cluster(filter->cluster, error) < 0)
        return MCAST_USAGE;
    if (state && (strspn(state, "abcdefghijklmnopqrstuvwxyz-") != strlen(state) ||
                  strlen(state) > STATE_MAX))
        return fault_set(error, MCAST_USAGE, "'%.40s' is no state: active or releasing", state);
    if (filter->silent && !filter->node)
        return fault_set(error, MCAST_USAGE, "silent is of one node: give node, too");
    return filter->node ? names_check_node(filter->node, error) : 0;
}

static void write_first_path(char path[QUERY_MAX], const struct mcast_filter *filter)
{
    const char *cluster = filter->cluster, *state = filter->state, *node = filter->node;
    uint64_t page = filter->limit > 0 && filter->limit < PAGE_SIZE ? filter->limit : PAGE_SIZE;
    char uid[24] = "";
    if (filter->uid != UINT32_MAX)
        snprintf(uid, sizeof uid, "&uid=%u", filter->uid);
    snprintf(path, QUERY_MAX, "/v1/jobs?limit=%llu%s%s%s%s%s%s%s%s", (unsigned long long)page,
             cluster ? "&cluster=" : "", cluster ? cluster : "", state ? "&state=" : "",
             state ? state : "", uid, node ? "&node=" : "", node ? node : "",
             filter->silent ? "&silent=yes" : "");
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

/* One page; *next is set when there is another, and points into *document. */
static int fetch_page(struct mcast *handle, struct listing *listing, const char *path,
                      void **document, const char **next, struct mcast_error *error)
{
    struct call call = {0};
    json_t *jobs = NULL;
    uint32_t hidden = 0;
    *next = NULL;
    call_set(&call, "GET", call_read_root, error, "%s", path);
    int rc = handle_run(handle, call, document, error);
    if (rc < 0)
        return rc;
    const json_t *root = document_root(*document);
    if ((rc = field_nested(root, "jobs", JSON_ARRAY, &jobs, error)) < 0)
        return rc;
    if (!jobs)
        return field_fault(error, "jobs", "missing");
    if ((rc = field_read(root, "next", FIELD_STRING, FIELD_OPTIONAL, next, error)) < 0 ||
        (*next && (rc = advance(listing, *next, error)) < 0))
        return rc;
    /* A page for a node must have it: who took what it sees for all could destroy what is in use.
     */
    if (listing->hidden &&
        (rc = field_read(root, "hidden", FIELD_UINT32, FIELD_REQUIRED, &hidden, error)) < 0)
        return rc;
    if (listing->hidden)
        *listing->hidden += hidden;
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
    void *page = NULL, *previous = NULL;
    uint64_t hidden = 0;
    int rc = filter ? struct_adopt(&mine, filter, "MCAST_FILTER_INIT", error) : 0;
    if (rc < 0 || (rc = check_filter(&mine, error)) < 0)
        return rc;
    struct listing listing = {.each = each,
                              .data = data,
                              .left = mine.limit > 0 ? mine.limit : UINT64_MAX,
                              .hidden = mine.node ? &hidden : NULL};
    write_first_path(first, &mine);
    for (const char *next = first; rc == 0 && next; previous = page) {
        page = NULL;
        rc = fetch_page(handle, &listing, next, &page, &next, error);
        document_free(previous); /* held the link that led to this page */
    }
    document_free(previous);
    if (mine.hidden)
        *mine.hidden = hidden;
    return rc;
}
