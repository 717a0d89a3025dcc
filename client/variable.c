#include "client/variable.h"
#include "client/envnames.h"
#include "client/fault.h"
#include "client/field.h"

#include <stdlib.h>
#include <string.h>

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
        if (!name_valid(name) || !json_is_string(value)) {
            free(list);
            return field_fault(error, "env", "not an object of environment variables");
        }
        list[used++] = variable_of(name, json_string_value(value));
    }
    *out = list;
    *count = used;
    return 0;
}
