/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/standing.h"

#include "node/commands/command.h"
#include "node/say.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A life before the one that the broker knows is over; one after it is none of this broker's, or
 * its ledger is an old one: then it cannot say that the job is over. */
static bool is_over(const struct claim *claim, const struct mcast_reservation *seen)
{
    return seen->number > claim->number || strcmp(seen->state, "gone") == 0 ||
           (seen->number == claim->number && strcmp(seen->state, "active") != 0);
}

static int unanswered(struct node *node, const struct mcast_error *error)
{
    node_say_error(node, error);
    return command_exit(error);
}

/* One job, looked for in a list. */
struct sought {
    const struct claim *claim;
    bool active;
};

static int look_at(const struct mcast_reservation *reservation, void *data)
{
    struct sought *sought = data;
    const struct claim *claim = sought->claim;
    sought->active |= strcmp(reservation->cluster, claim->cluster) == 0 &&
                      strcmp(reservation->job, claim->job) == 0 && !is_over(claim, reservation);
    return sought->active ? 1 : 0;
}

/* That a job is not shown to us is no proof that it is over.
 * 0, or negative. */
static int ask_list(struct node *node, const struct claim *claim, bool *over,
                    struct mcast_error *error)
{
    struct sought sought = {.claim = claim};
    struct mcast_filter filter = MCAST_FILTER_INIT;
    uint64_t hidden = 0;
    filter.cluster = claim->cluster;
    filter.node = node->name;
    filter.hidden = &hidden;
    int rc = mcast_list(node->broker, &filter, look_at, &sought, error);
    *over = !sought.active && hidden == 0;
    return rc < 0 ? rc : 0;
}

enum standing_of_job standing_ask(struct node *node, const struct claim *claim, int *rc)
{
    struct mcast_error error;
    struct mcast_reservation *seen = NULL;
    char name[CLAIM_NAME_SIZE];
    bool over = true, known = true;
    struct mcast *broker = node_broker(node, &error);
    int code = broker ? mcast_show(broker, claim->cluster, claim->job, &seen, &error) : error.code;
    if (code == 0) {
        over = is_over(claim, seen);
    } else if (code == MCAST_NOT_FOUND) {
        known = false;
        code = ask_list(node, claim, &over, &error);
    }
    mcast_reservation_free(seen);
    if (code == 0 && over)
        return known ? STANDING_OVER : STANDING_NO_JOB;
    if (code == 0)
        return STANDING_ACTIVE;
    node->broker_gone = code == MCAST_UNREACHABLE;
    *rc = unanswered(node, &error);
    say("whether job %s is active cannot be known, so its services are left alone",
        claim_name(claim, name));
    return STANDING_UNKNOWN;
}

/* *all: it sees every job of every cluster; *cluster: of the node's. */
static int ask_sight(struct node *node, struct mcast *broker, bool *all, bool *cluster)
{
    struct mcast_error error;
    char *text = NULL;
    int rc = mcast_whoami(broker, &text, &error);
    if (rc < 0) {
        node->broker_gone = rc == MCAST_UNREACHABLE;
        return unanswered(node, &error);
    }
    json_t *root = json_loads(text, 0, NULL);
    const json_t *clusters = json_object_get(root, "clusters");
    *all = json_is_true(json_object_get(root, "admin"));
    for (size_t i = 0; i < json_array_size(clusters); i++) {
        const char *name = json_string_value(json_array_get(clusters, i));
        *cluster |= node->cluster && name && strcmp(name, node->cluster) == 0;
    }
    json_decref(root);
    free(text);
    return COMMAND_GO_ON;
}

static int add_vnis(const struct mcast_reservation *reservation, void *data)
{
    struct standing *standing = data;
    for (size_t i = 0; i < reservation->vni_count; i++)
        idset_add(&standing->vnis, reservation->vnis[i]);
    /* Found at the fabric manager by a broker that had lost its ledger: it has VNIs, unless it
     * asked for none, but they are not known. */
    if (reservation->vni_count == 0 && reservation->uid == UINT32_MAX)
        snprintf(standing->unknown, sizeof standing->unknown, "%s/%s", reservation->cluster,
                 reservation->job);
    return 0;
}

/* A client that sees only some jobs would take the others' services for leftovers. COMMAND_GO_ON,
 * or an exit code after a message. */
static int check_complete(const struct standing *standing, const struct node *node, uint64_t hidden)
{
    if (hidden > 0)
        say("services that this node does not remember to have made are left alone: they could be "
            "of one of %llu active jobs that may run on %s and are not shown to it, being of "
            "clusters that it is no node of ([cluster] nodes); ask as an admin (docs/security.md)",
            (unsigned long long)hidden, node->name);
    if (standing->unknown[0])
        say("services that this node does not remember to have made are left alone: they could be "
            "job %s's, whose VNIs the broker has lost; clean when it has ended",
            standing->unknown);
    return hidden > 0 || standing->unknown[0] ? COMMAND_REFUSED : COMMAND_GO_ON;
}

/* An admin is shown all. A resource manager is shown its cluster's, wherever they run, and of the
 * others', as the node itself, what may be here. 0, or negative. */
static int list_active(struct node *node, struct standing *standing, bool all, bool cluster,
                       uint64_t *hidden, struct mcast_error *error)
{
    struct mcast_filter filter = MCAST_FILTER_INIT;
    int rc = 0;
    filter.state = "active";
    if (all || cluster) {
        filter.cluster = all ? NULL : node->cluster;
        rc = mcast_list(node->broker, &filter, add_vnis, standing, error);
    }
    if (rc == 0 && !all) {
        filter.cluster = NULL;
        filter.node = node->name;
        filter.hidden = hidden;
        rc = mcast_list(node->broker, &filter, add_vnis, standing, error);
    }
    node->broker_gone = rc == MCAST_UNREACHABLE;
    return rc;
}

int standing_load(struct standing *standing, struct node *node)
{
    struct mcast_error error;
    bool all = false, cluster = false;
    uint64_t hidden = 0;
    *standing = (struct standing){0};
    idset_init(&standing->vnis);
    struct mcast *broker = node_broker(node, &error);
    int rc = broker ? ask_sight(node, broker, &all, &cluster) : unanswered(node, &error);
    if (rc == COMMAND_UNREACHABLE)
        say("which jobs are active cannot be known without the broker, so nothing is cleaned");
    if (rc != COMMAND_GO_ON)
        return rc;
    if (list_active(node, standing, all, cluster, &hidden, &error) == 0)
        return check_complete(standing, node, hidden);
    rc = unanswered(node, &error);
    say("services that this node does not remember to have made are left alone: which jobs may be "
        "active here cannot be known");
    return rc;
}

bool standing_is_active(const struct standing *standing, const struct cxi_svc_desc *service)
{
    /* A service that is not restricted to VNIs may be any job's. */
    for (unsigned int i = 0; i < service->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++) {
        if (idset_has(&standing->vnis, service->vnis[i]))
            return true;
    }
    return false;
}
