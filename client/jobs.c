/* Reserve, release and show one job. */

#include "client/fault.h"
#include "client/handle.h"
#include "client/names.h"
#include "client/reservation.h"

#include <stdlib.h>
#include <string.h>

enum { VNI_COUNT_MAX = 4 };

/* The request as this version of the library knows it. One from a program compiled earlier lacks
 * fields, which keep their defaults; one compiled later may set fields unknown here, which must not
 * be dropped in silence. */
static int adopt(struct mcast_request *mine, const struct mcast_request *given,
                 struct mcast_error *error)
{
    static const struct mcast_request defaults = MCAST_REQUEST_INIT;
    *mine = defaults;
    const unsigned char *bytes = (const unsigned char *)given;
    if (given->size < sizeof(size_t))
        return fault_set(error, MCAST_USAGE,
                         "the request's size is not set; begin with MCAST_REQUEST_INIT");
    for (size_t i = sizeof(*mine); i < given->size; i++) {
        if (bytes[i] != 0)
            return fault_set(error, MCAST_USAGE,
                             "the program asks for more than libmcast %s knows; update libmcast",
                             MCAST_VERSION);
    }
    memcpy(mine, given, given->size < sizeof(*mine) ? given->size : sizeof(*mine));
    return 0;
}

static int check(const struct mcast_request *request, struct mcast_error *error)
{
    if (request->uid == UINT32_MAX)
        return fault_set(error, MCAST_USAGE, "the job's owner (uid) is not set");
    if (!request->nodes && request->node_count == 0)
        return fault_set(error, MCAST_USAGE,
                         "the job has no nodes: give a node list, or their number");
    if (request->vni_count < -1 || request->vni_count > VNI_COUNT_MAX)
        return fault_set(error, MCAST_USAGE, "%d VNIs cannot be had: 0 to %d", request->vni_count,
                         VNI_COUNT_MAX);
    return 0;
}

static json_t *encode(const struct mcast_request *request)
{
    json_t *body = json_pack("{s:I}", "uid", (json_int_t)request->uid);
    int rc = body ? 0 : -1;
    if (request->nodes)
        rc |= json_object_set_new(body, "nodes", json_string(request->nodes));
    if (request->node_count > 0)
        rc |= json_object_set_new(body, "node_count", json_integer(request->node_count));
    if (request->cores_per_node > 0)
        rc |= json_object_set_new(body, "cores_per_node", json_integer(request->cores_per_node));
    if (request->vni_count >= 0)
        rc |= json_object_set_new(body, "vni_count", json_integer(request->vni_count));
    if (request->hwcoll)
        rc |= json_object_set_new(body, "hwcoll", json_string(request->hwcoll));
    if (request->traffic_classes) {
        json_t *list = json_array();
        for (const char *const *word = request->traffic_classes; *word; word++)
            rc |= json_array_append_new(list, json_string(*word));
        rc |= json_object_set_new(body, "traffic_classes", list);
    }
    if (rc == 0)
        return body;
    json_decref(body);
    return NULL;
}

/* One call about one job; status receives the answer's, if not NULL. */
static int call_job(struct mcast *handle, const struct call *call, struct mcast_reservation **out,
                    int *status, struct mcast_error *error)
{
    struct answer answer;
    int rc = handle_call(handle, call, &answer, error);
    if (rc < 0)
        return rc;
    if (status)
        *status = answer.status;
    if (out)
        rc = reservation_parse(text_string(&answer.body), answer.body.length, out, error);
    text_release(&answer.body);
    return rc;
}

int mcast_reserve(struct mcast *handle, const struct mcast_request *request,
                  struct mcast_reservation **out, struct mcast_error *error)
{
    struct mcast_request mine;
    char path[NAMES_PATH_MAX];
    int status = 0, rc;
    if ((rc = adopt(&mine, request, error)) < 0 ||
        (rc = names_job_path(path, mine.cluster, mine.job, "", error)) < 0 ||
        (rc = check(&mine, error)) < 0)
        return rc;
    json_t *body = encode(&mine);
    if (!body)
        return fault_set(error, MCAST_USAGE, "the request's words are not UTF-8");
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (!text)
        return fault_nomem(error);
    struct call call = {.method = "PUT", .path = path, .body = text};
    rc = call_job(handle, &call, out, &status, error);
    free(text);
    if (rc == 0 && status == 200)
        reservation_set_repeated(*out);
    return rc;
}

int mcast_release(struct mcast *handle, const char *cluster, const char *job,
                  struct mcast_reservation **out, struct mcast_error *error)
{
    char path[NAMES_PATH_MAX];
    struct call call = {.method = "DELETE", .path = path};
    int rc = names_job_path(path, cluster, job, "", error);
    return rc < 0 ? rc : call_job(handle, &call, out, NULL, error);
}

int mcast_show(struct mcast *handle, const char *cluster, const char *job,
               struct mcast_reservation **out, struct mcast_error *error)
{
    char path[NAMES_PATH_MAX];
    struct call call = {.method = "GET", .path = path};
    int rc = names_job_path(path, cluster, job, "", error);
    return rc < 0 ? rc : call_job(handle, &call, out, NULL, error);
}
