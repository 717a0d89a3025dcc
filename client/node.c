/* What a node tells of a job's services. */

#include "client/fault.h"
#include "client/field.h"
#include "client/handle.h"
#include "client/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVICES_MAX = 16, PATH_SIZE = NAMES_PATH_MAX + 7 + NAMES_NODE_MAX + 1 };

static int adopt(struct mcast_node_report *mine, const struct mcast_node_report *given,
                 struct mcast_error *error)
{
    static const struct mcast_node_report defaults = MCAST_NODE_REPORT_INIT;
    const unsigned char *bytes = (const unsigned char *)given;
    *mine = defaults;
    if (given->size < sizeof(size_t))
        return fault_set(error, MCAST_USAGE,
                         "the report's size is not set; begin with MCAST_NODE_REPORT_INIT");
    for (size_t i = sizeof(*mine); i < given->size; i++) {
        if (bytes[i] != 0)
            return fault_set(error, MCAST_USAGE,
                             "the program tells more than libmcast %s knows; update libmcast",
                             MCAST_VERSION);
    }
    memcpy(mine, given, given->size < sizeof(*mine) ? given->size : sizeof(*mine));
    return 0;
}

static int make_path(char path[PATH_SIZE], const struct mcast_node_report *report,
                     struct mcast_error *error)
{
    char job[NAMES_PATH_MAX];
    int rc;
    if ((rc = names_job_path(job, report->cluster, report->job, "", error)) < 0 ||
        (rc = names_check_node(report->node, error)) < 0)
        return rc;
    snprintf(path, PATH_SIZE, "%s/nodes/%s", job, report->node);
    return 0;
}

static json_t *encode(const struct mcast_node_report *report)
{
    json_t *body =
        json_pack("{s:s,s:I}", "state", report->state, "number", (json_int_t)report->number);
    json_t *list = json_array();
    int rc = body && list ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < report->service_count; i++)
        rc =
            json_array_append_new(list, json_pack("{s:s,s:I}", "device", report->services[i].device,
                                                  "id", (json_int_t)report->services[i].id));
    if (rc == 0 && report->service_count > 0)
        rc = json_object_set(body, "services", list);
    if (rc == 0 && report->order > 0)
        rc = json_object_set_new(body, "order", json_integer((json_int_t)report->order));
    json_decref(list);
    if (rc == 0)
        return body;
    json_decref(body);
    return NULL;
}

static int decode(json_t *root, bool *releasing, struct mcast_error *error)
{
    const char *state = "";
    int rc = field_string(root, "reservation", FIELD_OPTIONAL, &state, error);
    if (rc == 0 && releasing)
        *releasing = strcmp(state, "releasing") == 0;
    return rc;
}

int mcast_report_node(struct mcast *handle, const struct mcast_node_report *report, bool *releasing,
                      struct mcast_error *error)
{
    struct mcast_node_report mine;
    char path[PATH_SIZE];
    int rc;
    if ((rc = adopt(&mine, report, error)) < 0 || (rc = make_path(path, &mine, error)) < 0)
        return rc;
    if (!mine.state || mine.service_count > SERVICES_MAX || mine.number == 0 ||
        mine.number > INT64_MAX || mine.order > INT64_MAX)
        return fault_set(error, MCAST_USAGE,
                         "a report needs a state and the reservation's number, and has at most %d "
                         "services",
                         SERVICES_MAX);
    json_t *body = encode(&mine);
    if (!body)
        return fault_set(error, MCAST_USAGE, "the report's words are not UTF-8");
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (!text)
        return fault_nomem(error);
    json_t *root = NULL;
    struct call call = {.method = "PUT", .path = path, .body = text};
    rc = handle_call_json(handle, &call, &root, error);
    free(text);
    if (rc == 0)
        rc = decode(root, releasing, error);
    json_decref(root);
    return rc;
}
