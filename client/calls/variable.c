/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/variable.h"
#include "client/fault.h"
#include "client/calls/field.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 4096 };

const char *const envnames[ENVNAME_COUNT + 1] = {
    [ENVNAME_MIN_NODES] = "FI_CXI_HWCOLL_MIN_NODES",
    [ENVNAME_ADDRESSES] = "FI_CXI_HWCOLL_ADDRS_PER_JOB",
    [ENVNAME_JOB] = "FI_CXI_COLL_JOB_ID",
    [ENVNAME_STEP] = "FI_CXI_COLL_JOB_STEP_ID",
    [ENVNAME_TOKEN] = "FI_CXI_COLL_MCAST_TOKEN",
    [ENVNAME_URL] = "FI_CXI_COLL_FABRIC_MGR_URL",
    [ENVNAME_CACERT] = "FI_CXI_COLL_FABRIC_MGR_CACERT",
};

static bool name_valid(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return name[0] && !(name[0] >= '0' && name[0] <= '9') && name[strspn(name, allowed)] == '\0';
}

/* Only what libfabric and MPI read of Slingshot: a broker that is not what it claims to be must not
 * set LD_PRELOAD or PATH of whoever evaluates this, who may be root. */
static bool is_slingshot_s(const char *name)
{
    return strncmp(name, "FI_CXI_", 7) == 0 || strncmp(name, "SLINGSHOT_", 10) == 0;
}

/* A line break would begin a line of its own in a TaskProlog's output. */
static bool value_valid(const char *value)
{
    if (strlen(value) > VALUE_MAX)
        return false;
    for (; *value; value++) {
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return false;
    }
    return true;
}

struct mcast_variable variable_of(const char *name, const char *value)
{
    return (struct mcast_variable){name, value, strcmp(name, envnames[ENVNAME_TOKEN]) == 0};
}

int variable_decode(json_t *object, struct mcast_variable **out, size_t *count,
                    struct mcast_error *error)
{
    struct mcast_variable *list = calloc(json_object_size(object) + 1, sizeof(*list));
    size_t used = 0;
    const char *name;
    json_t *value;
    if (!list)
        return fault_nomem(error);
    json_object_foreach(object, name, value)
    {
        int rc = 0;
        if (!name_valid(name) || !json_is_string(value))
            rc = field_fault(error, "env", "not an object of environment variables");
        else if (!is_slingshot_s(name))
            continue;
        else if (!value_valid(json_string_value(value)))
            rc = field_fault(error, "env", "not of one line in each variable");
        if (rc < 0) {
            free(list);
            return rc;
        }
        list[used++] = variable_of(name, json_string_value(value));
    }
    *out = list;
    *count = used;
    return 0;
}
