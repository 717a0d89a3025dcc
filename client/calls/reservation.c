/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/call.h"
#include "client/fault.h"
#include "client/calls/field.h"
#include "client/calls/variable.h"

#include <stdlib.h>
#include <string.h>

enum { VNI_MAX = 65535, VNI_COUNT_MAX = 4 };

/* What the caller sees comes first, so that its address is the whole's. */
struct whole {
    struct mcast_reservation seen;
    json_t *root; /* the strings live here */
    uint16_t vnis[VNI_COUNT_MAX];
    const char *const *traffic_classes, *const *waiting_nodes;
    struct mcast_waiting *reports;
    struct mcast_variable *env;
};

static int decode_vnis(struct whole *whole, struct mcast_error *error)
{
    json_t *array = NULL;
    int rc = field_array(whole->root, "vnis", &array, error);
    size_t count = array ? json_array_size(array) : 0;
    if (rc < 0)
        return rc;
    if (count > VNI_COUNT_MAX)
        return field_fault(error, "vnis", "longer than 4");
    for (size_t i = 0; i < count; i++) {
        const json_t *vni = json_array_get(array, i);
        json_int_t value = json_integer_value(vni);
        if (!json_is_integer(vni) || value < 0 || value > VNI_MAX)
            return field_fault(error, "vnis", "not a list of numbers from 0 to 65535");
        whole->vnis[i] = (uint16_t)value;
    }
    whole->seen.vnis = whole->vnis;
    whole->seen.vni_count = count;
    return 0;
}

static int decode_hwcoll(struct whole *whole, struct mcast_error *error)
{
    struct mcast_reservation *seen = &whole->seen;
    json_t *hwcoll = NULL;
    int rc;
    seen->hwcoll_state = "off";
    if ((rc = field_object(whole->root, "hwcoll", &hwcoll, error)) < 0 || !hwcoll)
        return rc;
    if ((rc = field_string(hwcoll, "state", FIELD_REQUIRED, &seen->hwcoll_state, error)) < 0 ||
        (rc = field_string(hwcoll, "reason", FIELD_OPTIONAL, &seen->hwcoll_reason, error)) < 0 ||
        (rc = field_uint32(hwcoll, "addresses", FIELD_OPTIONAL, &seen->hwcoll_addresses, error)) <
            0)
        return rc;
    return field_uint32(hwcoll, "min_nodes", FIELD_OPTIONAL, &seen->hwcoll_min_nodes, error);
}

/* An older broker does not tell them. */
static int decode_reports(struct whole *whole, const json_t *waiting, struct mcast_error *error)
{
    struct mcast_reservation *seen = &whole->seen;
    json_t *array = NULL;
    int rc = field_array(waiting, "reports", &array, error);
    size_t count = array ? json_array_size(array) : 0;
    if (rc < 0 || count == 0)
        return rc;
    whole->reports = calloc(count, sizeof(*whole->reports));
    if (!whole->reports)
        return fault_nomem(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        struct mcast_waiting *report = &whole->reports[i];
        if (!json_is_object(item))
            return field_fault(error, "reports", "not a list of objects");
        if ((rc = field_string(item, "node", FIELD_REQUIRED, &report->node, error)) < 0 ||
            (rc = field_string(item, "state", FIELD_REQUIRED, &report->state, error)) < 0 ||
            (rc = field_string(item, "services", FIELD_OPTIONAL, &report->services, error)) < 0)
            return rc;
    }
    seen->waiting_reports = whole->reports;
    seen->waiting_report_count = count;
    return 0;
}

static int decode_silence(struct whole *whole, const json_t *waiting, struct mcast_error *error)
{
    struct mcast_reservation *seen = &whole->seen;
    int rc;
    if ((rc = field_uint32(waiting, "lingering", FIELD_OPTIONAL, &seen->waiting_lingering, error)) <
            0 ||
        (rc = field_uint32(waiting, "created", FIELD_OPTIONAL, &seen->waiting_created, error)) <
            0 ||
        (rc = field_string(waiting, "silent", FIELD_OPTIONAL, &seen->waiting_silent, error)) < 0)
        return rc;
    return field_uint32(waiting, "silent_more", FIELD_OPTIONAL, &seen->waiting_silent_more, error);
}

static int decode_waiting(struct whole *whole, struct mcast_error *error)
{
    static const char *const no_nodes[] = {NULL};
    struct mcast_reservation *seen = &whole->seen;
    json_t *waiting = NULL;
    int rc;
    seen->waiting_nodes = no_nodes;
    seen->held = seen->held_until != NULL;
    if ((rc = field_object(whole->root, "waiting_for", &waiting, error)) < 0 || !waiting)
        return rc;
    seen->held = true;
    if ((rc = field_uint32(waiting, "count", FIELD_REQUIRED, &seen->waiting_count, error)) < 0 ||
        (rc = field_uint32(waiting, "unheard", FIELD_OPTIONAL, &seen->waiting_unheard, error)) <
            0 ||
        (rc = field_words(waiting, "nodes", &whole->waiting_nodes, error)) < 0 ||
        (rc = decode_reports(whole, waiting, error)) < 0 ||
        (rc = decode_silence(whole, waiting, error)) < 0)
        return rc;
    if (seen->waiting_unheard > seen->waiting_count)
        return field_fault(error, "waiting_for", "more unheard than there are");
    seen->waiting_nodes = whole->waiting_nodes;
    return 0;
}

static int decode_env(struct whole *whole, struct mcast_error *error)
{
    json_t *env = NULL;
    int rc = field_object(whole->root, "env", &env, error);
    if (rc < 0 || !env)
        return rc;
    rc = variable_decode(env, &whole->env, &whole->seen.env_count, error);
    whole->seen.env = whole->env;
    return rc;
}

static int decode_scalars(struct whole *whole, struct mcast_error *error)
{
    struct mcast_reservation *seen = &whole->seen;
    const json_t *root = whole->root;
    int rc;
    if ((rc = field_string(root, "cluster", FIELD_REQUIRED, &seen->cluster, error)) < 0 ||
        (rc = field_string(root, "job", FIELD_REQUIRED, &seen->job, error)) < 0 ||
        (rc = field_string(root, "state", FIELD_REQUIRED, &seen->state, error)) < 0)
        return rc;
    /* Of a job that is gone the broker remembers the name, and for a while only. */
    enum field_need need = strcmp(seen->state, "gone") == 0 ? FIELD_OPTIONAL : FIELD_REQUIRED;
    if ((rc = field_string(root, "nodes", FIELD_OPTIONAL, &seen->nodes, error)) < 0 ||
        (rc = field_string(root, "created", FIELD_OPTIONAL, &seen->created, error)) < 0 ||
        (rc = field_string(root, "released", FIELD_OPTIONAL, &seen->released, error)) < 0 ||
        (rc = field_string(root, "held_until", FIELD_OPTIONAL, &seen->held_until, error)) < 0 ||
        (rc = field_string(root, "warning", FIELD_OPTIONAL, &seen->warning, error)) < 0 ||
        (rc = field_string(root, "on_node", FIELD_OPTIONAL, &seen->on_node, error)) < 0 ||
        (rc = field_uint64(root, "number", need, UINT64_MAX, &seen->number, error)) < 0 ||
        (rc = field_uint32(root, "uid", FIELD_OPTIONAL, &seen->uid, error)) < 0 ||
        (rc = field_uint32(root, "node_count", FIELD_OPTIONAL, &seen->node_count, error)) < 0)
        return rc;
    return field_uint32(root, "cores_per_node", FIELD_OPTIONAL, &seen->cores_per_node, error);
}

int reservation_decode(json_t *root, struct mcast_reservation **out, struct mcast_error *error)
{
    struct whole *whole = calloc(1, sizeof(*whole));
    int rc;
    if (!whole) {
        json_decref(root);
        return fault_nomem(error);
    }
    whole->root = root;
    whole->seen.created = "";
    whole->seen.uid = UINT32_MAX;
    if ((rc = decode_scalars(whole, error)) < 0 || (rc = decode_vnis(whole, error)) < 0 ||
        (rc = decode_hwcoll(whole, error)) < 0 || (rc = decode_waiting(whole, error)) < 0 ||
        (rc = decode_env(whole, error)) < 0 ||
        (rc = field_words(root, "traffic_classes", &whole->traffic_classes, error)) < 0) {
        mcast_reservation_free(&whole->seen);
        return rc;
    }
    whole->seen.traffic_classes = whole->traffic_classes;
    *out = &whole->seen;
    return 0;
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
    struct whole *whole = (struct whole *)reservation;
    if (!whole)
        return;
    free(whole->env);
    free((void *)whole->traffic_classes);
    free((void *)whole->waiting_nodes);
    free(whole->reports);
    json_decref(whole->root);
    free(whole);
}

char *mcast_reservation_json(const struct mcast_reservation *reservation, unsigned flags)
{
    const struct whole *whole = (const struct whole *)reservation;
    size_t layout = flags & MCAST_JSON_INDENT ? JSON_INDENT(2) : JSON_COMPACT;
    if (flags & MCAST_JSON_SECRETS || reservation->env_count == 0)
        return json_dumps(whole->root, layout);
    json_t *shown = json_copy(whole->root);
    json_t *env = json_copy(json_object_get(whole->root, "env"));
    char *text = NULL;
    bool ok = shown && env;
    for (size_t i = 0; ok && i < reservation->env_count; i++) {
        if (reservation->env[i].secret)
            ok = json_object_set_new(env, reservation->env[i].name, json_string("***")) == 0;
    }
    if (ok && json_object_set(shown, "env", env) == 0)
        text = json_dumps(shown, layout);
    json_decref(env);
    json_decref(shown);
    return text;
}
