/* SPDX-License-Identifier: Apache-2.0 */
/* The environment for the tasks of one step, as the broker sends it. */

#include "client/calls/field.h"
#include "client/text.h"
#include "client/handle.h"

#include <string.h>

enum { VALUE_MAX = 4096 };

static bool is_name(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return name[0] && !(name[0] >= '0' && name[0] <= '9') && name[strspn(name, allowed)] == '\0';
}

/* A line break would begin a line of its own in a TaskProlog's output. */
static bool is_line(const char *value)
{
    size_t length = strlen(value), i = 0;
    while (i < length && (unsigned char)value[i] >= ' ' && value[i] != 0x7f)
        i++;
    return i == length && length <= VALUE_MAX;
}

/* Only what libfabric and MPI read of the interconnect: a broker that is not what it claims to be
 * must not set LD_PRELOAD or PATH of the shell that evaluates this, which may be root's. */
static bool is_of_interconnect(const char *name)
{
    static const char *const beginnings[] = {"FI_CXI_", "SLINGSHOT_", "FI_OPX_", "FI_PSM3_",
                                             "PSM3_"};
    size_t i = 0;
    while (i < sizeof beginnings / sizeof *beginnings &&
           strncmp(name, beginnings[i], strlen(beginnings[i])) != 0)
        i++;
    return i < sizeof beginnings / sizeof *beginnings;
}

int env_decode(void *document, json_t *object, const struct mcast_variable **out, size_t *count,
               struct mcast_error *error)
{
    struct mcast_variable *list = document_list(document, json_object_size(object), sizeof *list);
    const char *name;
    json_t *value;
    if (!list)
        return fault_nomem(error);
    *out = list;
    json_object_foreach(object, name, value)
    {
        if (!is_name(name) || !json_is_string(value))
            return field_fault(error, "env", "not an object of environment variables");
        if (!is_of_interconnect(name))
            continue;
        if (!is_line(json_string_value(value)))
            return field_fault(error, "env", "not of one line in each variable");
        list[(*count)++] = env_variable(name, json_string_value(value));
    }
    return 0;
}

/* The step is escaped: one of Flux is a job id path such as /fA/fB. */
int mcast_env(struct mcast *handle, const char *cluster, const char *job, const char *step,
              mcast_variable_fn *each, void *data, struct mcast_error *error)
{
    struct call call = {.rc = names_check(cluster, job, error)};
    struct text escaped = {0};
    const struct mcast_variable *list = NULL;
    void *document = NULL;
    size_t count = 0;
    if (call.rc == 0 && step)
        call.rc = names_check_step(step, error);
    if (call.rc == 0 && step && !text_add_escaped(&escaped, step))
        call.rc = fault_nomem(error);
    call_set(&call, "GET", call_read_root, error, NAMES_JOB_PATH "/env%s%s", cluster, job,
             step ? "?step=" : "", text_string(&escaped));
    text_release(&escaped);
    int rc = handle_run(handle, call, &document, error);
    if (rc == 0)
        rc = env_decode(document, document_root(document), &list, &count, error);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = each(&list[i], data);
    document_free(document);
    return rc;
}
