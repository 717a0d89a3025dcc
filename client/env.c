/* The environment for the tasks of one step. */

#include "client/fault.h"
#include "client/handle.h"
#include "client/names.h"
#include "client/variable.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* The path with the step, escaped: a Flux step is a job id path such as /fA/fB. */
static int env_path(struct text *path, const char *cluster, const char *job, const char *step,
                    struct mcast_error *error)
{
    char start[NAMES_PATH_MAX];
    int rc = names_job_path(start, cluster, job, step ? "/env?step=" : "/env", error);
    if (rc < 0 || (step && (rc = names_check_step(step, error)) < 0))
        return rc;
    char *escaped = step ? curl_easy_escape(NULL, step, 0) : NULL;
    bool ok = text_add(path, start, strlen(start)) &&
              (!step || (escaped && text_add(path, escaped, strlen(escaped))));
    curl_free(escaped);
    return ok ? 0 : fault_nomem(error);
}

static int iterate(json_t *root, mcast_variable_fn *each, void *data, struct mcast_error *error)
{
    struct mcast_variable *list = NULL;
    size_t count = 0;
    int rc = variable_decode(root, &list, &count, error);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = each(&list[i], data);
    free(list);
    return rc;
}

int mcast_env(struct mcast *handle, const char *cluster, const char *job, const char *step,
              mcast_variable_fn *each, void *data, struct mcast_error *error)
{
    struct text path = {0};
    json_t *root = NULL;
    int rc = env_path(&path, cluster, job, step, error);
    if (rc == 0) {
        struct call call = {.method = "GET", .path = text_string(&path)};
        rc = handle_call_json(handle, &call, &root, error);
    }
    if (rc == 0)
        rc = iterate(root, each, data, error);
    json_decref(root);
    text_release(&path);
    return rc;
}
