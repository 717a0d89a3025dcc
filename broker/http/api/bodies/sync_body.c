#include "broker/http/api/bodies/sync_body.h"

#include "broker/http/request/json_scan.h"
#include "base/names.h"

#include <stdio.h>
#include <stdlib.h>

static int read_id(struct json_scan *scan, size_t index, void *arg)
{
    struct sync_body *body = arg;
    char field[48], *id = NULL;
    if (!json_scan_kind(scan))
        return json_scan_bad(scan, "a text expected");
    if (*scan->at == '"' && json_scan_text(scan, "active", &id) < 0)
        return -1;
    if (!id || !job_id_valid(id)) {
        snprintf(field, sizeof field, "active[%zu]", index);
        return problem_set(scan->problem, 422, "invalid", field,
                           "%s must be a job id: 1 to %d of A-Z, a-z, 0-9 and ._:@+-", field,
                           JOB_ID_MAX);
    }
    if (body->count == SYNC_IDS_MAX)
        return problem_set(scan->problem, 422, "invalid", "active",
                           "active may name %d jobs at most", SYNC_IDS_MAX);
    body->active[body->count++] = id;
    return 0;
}

static int read_active(struct json_scan *scan, struct sync_body *body)
{
    const char *kind = json_scan_kind(scan);
    if (!kind)
        return json_scan_bad(scan, "a list expected");
    if (*scan->at != '[')
        return problem_set(scan->problem, 422, "invalid", "active",
                           "active must be the list of all job ids of this cluster that are "
                           "active, not %s",
                           kind);
    /* An id with its quotes and comma is four bytes at least. */
    size_t most = (size_t)(scan->end - scan->at) / 4 + 1;
    body->active = malloc((most < SYNC_IDS_MAX ? most : SYNC_IDS_MAX) * sizeof *body->active);
    if (!body->active)
        return problem_set(scan->problem, 503, "out-of-memory", NULL,
                           "there is no memory for so many ids; try again");
    return json_scan_list(scan, read_id, body);
}

static int read_member(struct json_scan *scan, const char *name, void *arg)
{
    static const char *const names[] = {"active", NULL};
    struct sync_body *body = arg;
    uint32_t seen = body->active != NULL;
    return json_scan_name(scan, name, names, &seen) < 0 ? -1 : read_active(scan, body);
}

int sync_body_parse(char *bytes, size_t length, struct sync_body *body, struct problem *problem)
{
    *body = (struct sync_body){0};
    int rc = json_scan_body(bytes, length, read_member, body, problem);
    if (rc == 0 && !body->active)
        rc = problem_set(problem, 422, "missing-field", "active",
                         "active must be the list of all job ids of this cluster that are active");
    if (rc < 0)
        sync_body_release(body);
    return rc;
}

void sync_body_release(struct sync_body *body)
{
    free(body->active);
    *body = (struct sync_body){0};
}
