/* What an administrator decides when the broker has raised an alarm. */

#include "client/fault.h"
#include "client/field.h"
#include "client/handle.h"
#include "client/names.h"

#include <stdio.h>

/* Sends a decision that says all by its path, and reads how many reservations it is about. */
static int decide(struct mcast *handle, const char *path, uint64_t *reservations,
                  struct mcast_error *error)
{
    struct call call = {.method = "POST", .path = path};
    uint64_t count = 0;
    json_t *root = NULL;
    int rc = handle_call_json(handle, &call, &root, error);
    if (rc == 0)
        rc = field_uint64(root, "reservations", FIELD_OPTIONAL, UINT64_MAX, &count, error);
    if (rc == 0 && reservations)
        *reservations = count;
    json_decref(root);
    return rc;
}

int mcast_accept_loss(struct mcast *handle, uint64_t *reservations, struct mcast_error *error)
{
    return decide(handle, "/v1/accept-loss", reservations, error);
}

int mcast_claim(struct mcast *handle, const char *cluster, uint64_t *reservations,
                struct mcast_error *error)
{
    char path[NAMES_PATH_MAX];
    int rc = names_check_cluster(cluster, error);
    if (rc < 0)
        return rc;
    snprintf(path, sizeof(path), "/v1/clusters/%s/claim", cluster);
    return decide(handle, path, reservations, error);
}
