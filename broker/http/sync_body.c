#include "broker/http/sync_body.h"

#include "core/names.h"

#include <stdio.h>
#include <stdlib.h>

static int read_ids(json_t *list, struct sync_body *body, struct problem *problem)
{
    size_t i;
    json_t *member;
    body->active = malloc((json_array_size(list) + 1) * sizeof *body->active);
    if (!body->active)
        return problem_set(problem, 503, "out-of-memory", NULL,
                           "there is no memory for so many ids; try again");
    json_array_foreach(list, i, member)
    {
        const char *id = json_string_value(member);
        if (!id || !job_id_valid(id)) {
            char field[48];
            snprintf(field, sizeof field, "active[%zu]", i);
            return problem_set(problem, 422, "invalid", field,
                               "%s must be a job id: 1 to %d of A-Z, a-z, 0-9 and ._:@+-", field,
                               JOB_ID_MAX);
        }
        body->active[body->count++] = id;
    }
    return 0;
}

int sync_body_parse(const char *bytes, size_t length, struct sync_body *body,
                    struct problem *problem)
{
    static const char *const names[] = {"active", NULL};
    *body = (struct sync_body){.root = json_body_parse(bytes, length, problem)};
    if (!body->root)
        return -1;
    json_t *list = json_object_get(body->root, "active");
    int rc = json_body_check_names(body->root, names, problem);
    if (rc == 0 && !json_is_array(list))
        rc = problem_set(problem, 422, list ? "invalid" : "missing-field", "active",
                         "active must be the list of all job ids of this cluster that are active");
    if (rc == 0)
        rc = read_ids(list, body, problem);
    if (rc < 0)
        sync_body_release(body);
    return rc;
}

void sync_body_release(struct sync_body *body)
{
    free(body->active);
    json_decref(body->root);
    *body = (struct sync_body){0};
}
