/* What the broker says of itself and of the caller, as it puts it. */

#include "client/handle.h"

int status_errand(struct errand *errand, const char *path, struct mcast_error *error)
{
    errand->method = "GET";
    errand->read = errand_read_json;
    return errand_path(errand, path, error);
}

static int fetch(struct mcast *handle, const char *path, char **json, struct mcast_error *error)
{
    struct errand errand = {0};
    struct result result = {0};
    int rc = status_errand(&errand, path, error);
    if (rc == 0)
        rc = handle_run(handle, &errand, &result, error);
    errand_release(&errand);
    if (rc == 0)
        *json = result.json;
    return rc;
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
