/* What the broker says of itself and of the caller, as it puts it. */

#include "client/fault.h"
#include "client/handle.h"

static int fetch(struct mcast *handle, const char *path, char **json, struct mcast_error *error)
{
    struct call call = {.method = "GET", .path = path};
    json_t *root = NULL;
    int rc = handle_call_json(handle, &call, &root, error);
    if (rc < 0)
        return rc;
    *json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return *json ? 0 : fault_nomem(error);
}

int mcast_status(struct mcast *handle, char **json, struct mcast_error *error)
{
    return fetch(handle, "/v1/status", json, error);
}

int mcast_doctor(struct mcast *handle, char **json, struct mcast_error *error)
{
    return fetch(handle, "/v1/doctor", json, error);
}

int mcast_whoami(struct mcast *handle, char **json, struct mcast_error *error)
{
    return fetch(handle, "/v1/whoami", json, error);
}
