/* SPDX-License-Identifier: Apache-2.0 */
/* A reservation as the broker sends it, and what of it is shown. */

#include "client/calls/call.h"
#include "client/text.h"
#include "client/calls/field.h"

#include <string.h>

enum { VNIS_MAX = 4 };

#define AT(member) offsetof(struct mcast_reservation, member)

static const struct field scalars[] = {
    {"cluster", FIELD_STRING, FIELD_REQUIRED, AT(cluster)},
    {"job", FIELD_STRING, FIELD_REQUIRED, AT(job)},
    {"state", FIELD_STRING, FIELD_REQUIRED, AT(state)},
    {"nodes", FIELD_STRING, FIELD_OPTIONAL, AT(nodes)},
    {"created", FIELD_STRING, FIELD_OPTIONAL, AT(created)},
    {"released", FIELD_STRING, FIELD_OPTIONAL, AT(released)},
    {"held_until", FIELD_STRING, FIELD_OPTIONAL, AT(held_until)},
    {"warning", FIELD_STRING, FIELD_OPTIONAL, AT(warning)},
    {"launch", FIELD_STRING, FIELD_OPTIONAL, AT(launch)},
    {"node_addresses", FIELD_STRING, FIELD_OPTIONAL, AT(node_addresses)},
    {"interconnect", FIELD_STRING, FIELD_OPTIONAL, AT(interconnect)},
    {"origin", FIELD_STRING, FIELD_OPTIONAL, AT(origin)},
    {"profile", FIELD_STRING, FIELD_OPTIONAL, AT(profile)},
    {"partition_key", FIELD_STRING, FIELD_OPTIONAL, AT(partition_key)},
    {"tasks_per_node", FIELD_UINT32, FIELD_OPTIONAL, AT(tasks_per_node)},
    {"cpus_per_task", FIELD_UINT32, FIELD_OPTIONAL, AT(cpus_per_task)},
    {"on_node", FIELD_STRING, FIELD_OPTIONAL, AT(on_node)},
    {"uid", FIELD_UINT32, FIELD_OPTIONAL, AT(uid)},
    {"node_count", FIELD_UINT32, FIELD_OPTIONAL, AT(node_count)},
    {"cores_per_node", FIELD_UINT32, FIELD_OPTIONAL, AT(cores_per_node)},
    {"clean", FIELD_UINT32, FIELD_OPTIONAL, AT(clean)},
    {"lingering", FIELD_STRING, FIELD_OPTIONAL, AT(lingering)},
    {"lingering_more", FIELD_UINT32, FIELD_OPTIONAL, AT(lingering_more)},
    {"traffic_classes", FIELD_WORDS, FIELD_OPTIONAL, AT(traffic_classes)},
    {"shared_vnis", FIELD_WORDS, FIELD_OPTIONAL, AT(shared_vnis)},
    {"vnis_shared", FIELD_UINT32, FIELD_OPTIONAL, AT(vnis_shared)},
};

static const struct field of_hwcoll[] = {
    {"state", FIELD_STRING, FIELD_REQUIRED, AT(hwcoll_state)},
    {"reason", FIELD_STRING, FIELD_OPTIONAL, AT(hwcoll_reason)},
    {"addresses", FIELD_UINT32, FIELD_OPTIONAL, AT(hwcoll_addresses)},
    {"min_nodes", FIELD_UINT32, FIELD_OPTIONAL, AT(hwcoll_min_nodes)},
    {"trees", FIELD_UINT32, FIELD_OPTIONAL, AT(hwcoll_trees)},
    {"trees_known", FIELD_STRING, FIELD_OPTIONAL, AT(hwcoll_trees_known)},
    {"tree_steps", FIELD_WORDS, FIELD_OPTIONAL, AT(hwcoll_tree_steps)},
};

static const struct field of_waiting_for[] = {
    {"count", FIELD_UINT32, FIELD_REQUIRED, AT(waiting_count)},
    {"unheard", FIELD_UINT32, FIELD_OPTIONAL, AT(waiting_unheard)},
    {"lingering", FIELD_UINT32, FIELD_OPTIONAL, AT(waiting_lingering)},
    {"created", FIELD_UINT32, FIELD_OPTIONAL, AT(waiting_created)},
    {"silent", FIELD_STRING, FIELD_OPTIONAL, AT(waiting_silent)},
    {"silent_more", FIELD_UINT32, FIELD_OPTIONAL, AT(waiting_silent_more)},
    {"nodes", FIELD_WORDS, FIELD_OPTIONAL, AT(waiting_nodes)},
};

static const struct field of_report[] = {
    {"node", FIELD_STRING, FIELD_REQUIRED, offsetof(struct mcast_waiting, node)},
    {"state", FIELD_STRING, FIELD_REQUIRED, offsetof(struct mcast_waiting, state)},
    {"services", FIELD_STRING, FIELD_OPTIONAL, offsetof(struct mcast_waiting, services)},
};

/* An older broker does not send them. */
static int decode_reports(struct mcast_reservation *seen, const json_t *waiting,
                          struct mcast_error *error)
{
    json_t *array = NULL;
    int rc = field_nested(waiting, "reports", JSON_ARRAY, &array, error);
    size_t count = json_array_size(array);
    if (rc < 0 || count == 0)
        return rc;
    struct mcast_waiting *reports = document_list(seen, count, sizeof *reports);
    if (!reports)
        return fault_nomem(error);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const json_t *item = json_array_get(array, i);
        rc = json_is_object(item) ? FIELDS_READ(item, of_report, &reports[i], error)
                                  : field_fault(error, "reports", "not a list of objects");
    }
    seen->waiting_reports = reports;
    seen->waiting_report_count = count;
    return rc;
}

static int decode_waiting(struct mcast_reservation *seen, const json_t *root,
                          struct mcast_error *error)
{
    static const char *const no_nodes[] = {NULL};
    json_t *waiting = NULL;
    int rc;
    seen->waiting_nodes = no_nodes;
    seen->held = seen->held_until;
    if ((rc = field_nested(root, "waiting_for", JSON_OBJECT, &waiting, error)) < 0 || !waiting)
        return rc;
    seen->held = true;
    if ((rc = FIELDS_READ(waiting, of_waiting_for, seen, error)) < 0 ||
        (rc = decode_reports(seen, waiting, error)) < 0)
        return rc;
    return seen->waiting_unheard > seen->waiting_count
               ? field_fault(error, "waiting_for", "more unheard than there are")
               : 0;
}

static int decode_hwcoll(struct mcast_reservation *seen, const json_t *root,
                         struct mcast_error *error)
{
    json_t *hwcoll = NULL;
    int rc = field_nested(root, "hwcoll", JSON_OBJECT, &hwcoll, error);
    seen->hwcoll_state = "off";
    return rc < 0 || !hwcoll ? rc : FIELDS_READ(hwcoll, of_hwcoll, seen, error);
}

static int decode_env(struct mcast_reservation *seen, const json_t *root, struct mcast_error *error)
{
    json_t *env = NULL;
    int rc = field_nested(root, "env", JSON_OBJECT, &env, error);
    return rc < 0 || !env ? rc : env_decode(seen, env, &seen->env, &seen->env_count, error);
}

int reservation_decode(json_t *root, struct mcast_reservation **out, struct mcast_error *error)
{
    struct mcast_reservation *seen = document_create(sizeof *seen, root);
    int rc;
    if (!seen)
        return fault_nomem(error);
    seen->created = "";
    seen->uid = UINT32_MAX;
    seen->interconnect = "slingshot"; /* of an older broker */
    rc = FIELDS_READ(root, scalars, seen, error);
    /* Of a job that is gone the broker remembers the name, and for a while only. */
    if (rc == 0)
        rc = field_read(root, "number", FIELD_UINT64,
                        strcmp(seen->state, "gone") == 0 ? FIELD_OPTIONAL : FIELD_REQUIRED,
                        &seen->number, error);
    if (rc < 0 ||
        (rc = document_numbers(seen, root, "vnis", VNIS_MAX, &seen->vnis, &seen->vni_count,
                               error)) < 0 ||
        (rc = decode_hwcoll(seen, root, error)) < 0 ||
        (rc = decode_waiting(seen, root, error)) < 0 || (rc = decode_env(seen, root, error)) < 0)
        document_free(seen);
    else
        *out = seen;
    return rc;
}

int reservation_parse(const char *body, size_t length, struct mcast_reservation **out,
                      struct mcast_error *error)
{
    json_t *root = NULL;
    int rc = field_parse(body, length, &root, error);
    return rc < 0 ? rc : reservation_decode(root, out, error);
}

void mcast_reservation_free(struct mcast_reservation *reservation)
{
    document_free(reservation);
}

char *mcast_reservation_json(const struct mcast_reservation *reservation, unsigned flags)
{
    json_t *root = document_root(reservation);
    if (flags & MCAST_JSON_SECRETS || reservation->env_count == 0)
        return field_json(root, flags);
    json_t *shown = json_copy(root), *env = json_copy(json_object_get(root, "env"));
    int rc = json_object_set(shown, "env", env);
    for (size_t i = 0; rc == 0 && i < reservation->env_count; i++)
        if (reservation->env[i].secret)
            rc = json_object_set_new(env, reservation->env[i].name, json_string("***"));
    char *text = rc == 0 ? field_json(shown, flags) : NULL;
    json_decref(env);
    json_decref(shown);
    return text;
}
