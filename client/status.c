/* The broker's state, as it puts it. */

#include "client/fault.h"
#include "client/handle.h"

int mcast_status(struct mcast *handle, char **json, struct mcast_error *error)
{
    struct call call = {.method = "GET", .path = "/v1/status"};
    json_t *root = NULL;
    int rc = handle_call_json(handle, &call, &root, error);
    if (rc < 0)
        return rc;
    *json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return *json ? 0 : fault_nomem(error);
}
