/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/reservation.h"

#include "base/memory.h"
#include "client/calls/call.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_MAX = 1 << 20 };

/* Says what the broker answered, and returns the exit code; says it once, if it answers the same of
 * one job after the other. */
static int unanswered(const struct mcast_error *error)
{
    static struct mcast_error last;
    if (strcmp(last.text, error->text) != 0)
        say("%s", error->text);
    last = *error;
    return command_exit(error);
}

/* ---- One job's ---- */

/* The document as one string, for free(); NULL after a message. */
static char *read_document(const char *file, size_t *length)
{
    char *text = memory_zeroed(DOCUMENT_MAX);
    FILE *in = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    *length = in ? fread(text, 1, DOCUMENT_MAX, in) : 0;
    if (*length == DOCUMENT_MAX)
        errno = EFBIG;
    bool bad = !in || ferror(in) || *length == DOCUMENT_MAX;
    if (bad)
        say("%s cannot be read as a reservation: %s", file, strerror(errno));
    if (in && in != stdin)
        fclose(in);
    if (!bad)
        return text;
    free(text);
    return NULL;
}

static int fetch_from_file(const char *file, struct mcast_reservation **out)
{
    struct mcast_error error;
    size_t length = 0;
    char *text = read_document(file, &length);
    if (!text)
        return COMMAND_USAGE;
    int rc = reservation_parse(text, length, out, &error);
    explicit_bzero(text, length); /* the job's token may be in it */
    free(text);
    if (rc == 0)
        return COMMAND_GO_ON;
    say("%s is not a reservation as mcastctl show --json prints it: %s", file, error.text);
    return COMMAND_USAGE;
}

/* A question about one job. */
struct show {
    const char *cluster, *job;
    struct mcast_reservation *out;
};

static int show_job(struct mcast *broker, void *arg, struct mcast_error *error)
{
    struct show *show = arg;
    return mcast_show(broker, show->cluster, show->job, &show->out, error);
}

static int fetch_from_broker(struct node *node, const char *job, bool quiet,
                             struct mcast_reservation **out)
{
    struct mcast_error error;
    struct show show = {.cluster = node->cluster, .job = job};
    if (!node->cluster) {
        say("no cluster is given: use --cluster NAME, or set cluster in node.conf");
        return COMMAND_USAGE;
    }
    int rc = node_ask(node, show_job, &show, node->settings.busy_ms, !quiet, &error);
    if (rc == 0 && strcmp(show.out->state, "gone") == 0) {
        mcast_reservation_free(show.out);
        rc = error.code = MCAST_NOT_FOUND;
        snprintf(error.text, sizeof error.text, "job %.130s is released already", job);
    }
    if (rc < 0)
        return rc == MCAST_NOT_FOUND && quiet ? COMMAND_NOT_FOUND : unanswered(&error);
    *out = show.out;
    return COMMAND_GO_ON;
}

int reservation_fetch(struct node *node, const struct command_options *options, bool quiet,
                      struct claim *claim)
{
    const char *file = options->reservation, *job = options->job;
    struct mcast_reservation *reservation = NULL;
    struct error err;
    int rc = file ? fetch_from_file(file, &reservation)
                  : fetch_from_broker(node, job, quiet, &reservation);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (claim_from_reservation(claim, reservation, node->cluster, job, node->name, &err) < 0)
        rc = command_failed(&err);
    mcast_reservation_free(reservation);
    return rc;
}

/* ---- Whether it is over ---- */

/* A reservation before the one that the broker knows is over; one after it is none of this
 * broker's, or its ledger is an old one: then it cannot say that the job is over. */
static bool is_over(const struct claim *claim, const struct mcast_reservation *seen)
{
    return seen->number > claim->number || strcmp(seen->state, "gone") == 0 ||
           (seen->number == claim->number && strcmp(seen->state, "active") != 0);
}

/* One job, looked for in a list. */
struct listing {
    struct node *node;
    const struct claim *claim;
    bool active;
    uint64_t hidden;
};

static int compare_listed(const struct mcast_reservation *reservation, void *data)
{
    struct listing *listing = data;
    const struct claim *claim = listing->claim;
    listing->active |= strcmp(reservation->cluster, claim->cluster) == 0 &&
                       strcmp(reservation->job, claim->job) == 0 && !is_over(claim, reservation);
    return listing->active ? 1 : 0;
}

static int look_into_list(struct mcast *broker, void *arg, struct mcast_error *error)
{
    struct listing *listing = arg;
    struct mcast_filter filter = MCAST_FILTER_INIT;
    filter.cluster = listing->claim->cluster;
    filter.node = listing->node->name;
    filter.hidden = &listing->hidden;
    int rc = mcast_list(broker, &filter, compare_listed, listing, error);
    return rc < 0 ? rc : 0;
}

enum reservation_state reservation_ask(struct node *node, const struct claim *claim, int *rc)
{
    struct mcast_error error;
    struct show show = {.cluster = claim->cluster, .job = claim->job};
    struct listing listing = {.node = node, .claim = claim};
    int code = node_ask(node, show_job, &show, 0, false, &error);
    if (code == 0) {
        bool over = is_over(claim, show.out);
        mcast_reservation_free(show.out);
        return over ? RESERVATION_OVER : RESERVATION_ACTIVE;
    }
    /* That a job is not shown to us is no proof that it is over. */
    if (code == MCAST_NOT_FOUND)
        code = node_ask(node, look_into_list, &listing, 0, false, &error);
    if (code == 0)
        return listing.active || listing.hidden > 0 ? RESERVATION_ACTIVE : RESERVATION_UNKNOWN;
    *rc = unanswered(&error);
    say("whether job %s is active cannot be known, so its services are left alone", claim->name);
    return RESERVATION_NO_ANSWER;
}

/* ---- All that are active ---- */

static int add_vnis(const struct mcast_reservation *reservation, void *data)
{
    struct active_vnis *active = data;
    for (size_t i = 0; i < reservation->vni_count; i++)
        idset_add(&active->vnis, reservation->vnis[i]);
    /* Found at the fabric manager by a broker that had lost its ledger: it has VNIs, unless it
     * asked for none, but they are not known. */
    if (reservation->vni_count == 0 && reservation->uid == UINT32_MAX)
        snprintf(active->unknown, sizeof active->unknown, "%s/%s", reservation->cluster,
                 reservation->job);
    return 0;
}

/* What this node may see, and what it saw. */
struct view {
    struct node *node;
    struct active_vnis *active;
    bool all, cluster; /* every job of every cluster; of the node's */
    uint64_t hidden;
};

static int ask_view(struct mcast *broker, void *arg, struct mcast_error *error)
{
    struct view *view = arg;
    char *text = NULL;
    int rc = mcast_whoami(broker, &text, error);
    if (rc < 0)
        return rc;
    json_t *root = json_loads(text, 0, NULL);
    const json_t *clusters = json_object_get(root, "clusters");
    view->all = json_is_true(json_object_get(root, "admin"));
    for (size_t i = 0; i < json_array_size(clusters); i++) {
        const char *name = json_string_value(json_array_get(clusters, i));
        view->cluster |= view->node->cluster && name && strcmp(name, view->node->cluster) == 0;
    }
    json_decref(root);
    free(text);
    return 0;
}

/* An admin is shown all. A resource manager is shown its cluster's, wherever they run, and of the
 * others', as the node itself, what may be here. */
static int list_active(struct mcast *broker, void *arg, struct mcast_error *error)
{
    struct view *view = arg;
    struct mcast_filter filter = MCAST_FILTER_INIT;
    int rc = 0;
    filter.state = "active";
    if (view->all || view->cluster) {
        filter.cluster = view->all ? NULL : view->node->cluster;
        rc = mcast_list(broker, &filter, add_vnis, view->active, error);
    }
    if (rc == 0 && !view->all) {
        filter.cluster = NULL;
        filter.node = view->node->name;
        filter.hidden = &view->hidden;
        rc = mcast_list(broker, &filter, add_vnis, view->active, error);
    }
    return rc;
}

int reservation_load_active(struct node *node, struct active_vnis *active)
{
    static const char left_alone[] =
        "services that this node does not remember to have made are left alone";
    struct view view = {.node = node, .active = active};
    struct mcast_error error;
    int rc;
    *active = (struct active_vnis){0};
    idset_init(&active->vnis);
    if (node_ask(node, ask_view, &view, 0, false, &error) < 0) {
        rc = unanswered(&error);
        if (rc == COMMAND_UNREACHABLE)
            say("which jobs are active cannot be known without the broker, so nothing is cleaned");
        return rc;
    }
    if (node_ask(node, list_active, &view, 0, false, &error) < 0) {
        rc = unanswered(&error);
        say("%s: which jobs may be active here cannot be known", left_alone);
        return rc;
    }
    /* A client that sees only some jobs would take the others' services for leftovers. */
    if (view.hidden > 0)
        say("%s: they could be of one of %llu active jobs that may run on %s and are not shown to "
            "it, being of clusters that it is no node of ([cluster] nodes); ask as an admin "
            "(docs/security.md)",
            left_alone, (unsigned long long)view.hidden, node->name);
    if (active->unknown[0])
        say("%s: they could be job %s's, whose VNIs the broker has lost; clean when it has ended",
            left_alone, active->unknown);
    return view.hidden > 0 || active->unknown[0] ? COMMAND_REFUSED : COMMAND_GO_ON;
}
