/* An administrator vouches for a machine. */

#include "client/fault.h"
#include "client/field.h"
#include "client/handle.h"
#include "client/names.h"

#include <stdio.h>
#include <stdlib.h>

enum { PATH_SIZE = NAMES_NODE_MAX + 32 };

/* "{"reason":…}", the caller's to free; NULL: it is no UTF-8, or memory is exhausted. */
static char *encode(const char *reason)
{
    json_t *body = json_pack("{s:s}", "reason", reason);
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return text;
}

static int fence(struct mcast *handle, const char *node, const char *reason, json_t **root,
                 struct mcast_error *error)
{
    char path[PATH_SIZE];
    int rc = names_check_node(node, error);
    if (rc < 0)
        return rc;
    if (!reason || !reason[0])
        return fault_set(error, MCAST_USAGE, "a reason is needed: why nothing on %s can use VNIs",
                         node);
    char *body = encode(reason);
    if (!body)
        return fault_set(error, MCAST_USAGE, "the reason is not UTF-8");
    snprintf(path, sizeof(path), "/v1/nodes/%s/fence", node);
    struct call call = {.method = "PUT", .path = path, .body = body};
    rc = handle_call_json(handle, &call, root, error);
    free(body);
    return rc;
}

int mcast_fence(struct mcast *handle, const char *node, const char *reason, uint64_t *reservations,
                struct mcast_error *error)
{
    uint64_t count = 0;
    json_t *root = NULL;
    int rc = fence(handle, node, reason, &root, error);
    if (rc == 0)
        rc = field_uint64(root, "reservations", FIELD_OPTIONAL, UINT64_MAX, &count, error);
    if (rc == 0 && reservations)
        *reservations = count;
    json_decref(root);
    return rc;
}

int mcast_fence_json(struct mcast *handle, const char *node, const char *reason, char **json,
                     struct mcast_error *error)
{
    json_t *root = NULL;
    int rc = fence(handle, node, reason, &root, error);
    if (rc < 0)
        return rc;
    *json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return *json ? 0 : fault_nomem(error);
}
