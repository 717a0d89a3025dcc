#include "node/standing.h"

#include "node/command.h"
#include "node/say.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum standing_of_job standing_ask(struct node *node, const struct claim *claim, int *rc)
{
    struct mcast_error error;
    struct mcast_reservation *seen = NULL;
    char name[CLAIM_NAME_SIZE];
    struct mcast *broker = node_broker(node, &error);
    int code = broker ? mcast_show(broker, claim->cluster, claim->job, &seen, &error) : error.code;
    if (code == MCAST_NOT_FOUND)
        return STANDING_OVER;
    if (code < 0) {
        node->broker_gone = code == MCAST_UNREACHABLE;
        *rc = command_unanswered(&error);
        say("whether job %s is active cannot be known, so its services are left alone",
            claim_name(claim, name));
        return STANDING_UNKNOWN;
    }
    /* A life before the one that the broker knows is over; one after it is none of this broker's,
     * or its ledger is an old one: then it cannot say that the job is over. */
    bool over = seen->number > claim->number || strcmp(seen->state, "gone") == 0 ||
                (seen->number == claim->number && strcmp(seen->state, "active") != 0);
    mcast_reservation_free(seen);
    return over ? STANDING_OVER : STANDING_ACTIVE;
}

/* *all: it sees every job of every cluster; *cluster: of the node's. */
static int ask_sight(struct node *node, struct mcast *broker, bool *all, bool *cluster)
{
    struct mcast_error error;
    char *text = NULL;
    int rc = mcast_whoami(broker, &text, &error);
    if (rc < 0) {
        node->broker_gone = rc == MCAST_UNREACHABLE;
        return command_unanswered(&error);
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
    return 0;
}

int standing_load(struct standing *standing, struct node *node)
{
    struct mcast_error error;
    struct mcast_filter filter = MCAST_FILTER_INIT;
    bool all = false, cluster = false;
    idset_init(&standing->vnis);
    struct mcast *broker = node_broker(node, &error);
    int rc = broker ? ask_sight(node, broker, &all, &cluster) : command_unanswered(&error);
    if (rc == COMMAND_UNREACHABLE)
        say("which jobs are active cannot be known without the broker, so nothing is cleaned");
    if (rc != COMMAND_GO_ON)
        return rc;
    /* Whoever sees only some jobs would take the others' services for leftovers. */
    if (!all && !cluster) {
        say("services that this node does not remember to have made are left alone: the broker "
            "does not show it every job, so that they could be an active one's; ask as an admin "
            "or as the cluster's resource manager (mcastctl, docs/security.md)");
        return COMMAND_REFUSED;
    }
    filter.state = "active";
    filter.cluster = all ? NULL : node->cluster;
    rc = mcast_list(broker, &filter, add_vnis, standing, &error);
    return rc < 0 ? command_unanswered(&error) : COMMAND_GO_ON;
}

bool standing_is_active(const struct standing *standing, const struct cxi_svc_desc *service)
{
    /* Without restriction to VNIs, a service is whoever's. */
    for (unsigned int i = 0; i < service->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++) {
        if (idset_has(&standing->vnis, service->vnis[i]))
            return true;
    }
    return false;
}
