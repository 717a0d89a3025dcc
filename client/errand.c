#include "client/errand.h"
#include "client/fault.h"
#include "client/field.h"

#include <stdlib.h>
#include <string.h>

void result_release(struct result *result)
{
    mcast_reservation_free(result->reservation);
    mcast_steps_free(result->steps);
    mcast_sync_result_free(result->sync);
    free(result->env);
    json_decref(result->root);
    free(result->json);
    *result = (struct result){0};
}

struct call errand_call(const struct errand *errand, struct secret token)
{
    return (struct call){
        .method = errand->method,
        .path = text_string(&errand->path),
        .body = errand->body,
        .token = errand->borne ? token : secret_of(NULL),
        .wait_ms = errand->wait_ms,
    };
}

void errand_release(struct errand *errand)
{
    text_release(&errand->path);
    free(errand->body);
    *errand = (struct errand){0};
}

int errand_path(struct errand *errand, const char *path, struct mcast_error *error)
{
    return text_add(&errand->path, path, strlen(path)) ? 0 : fault_nomem(error);
}

int errand_body(struct errand *errand, json_t *body, const char *what, struct mcast_error *error)
{
    if (!body)
        return fault_set(error, MCAST_USAGE, "%s not UTF-8", what);
    errand->body = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return errand->body ? 0 : fault_nomem(error);
}

int errand_read_json(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    json_t *root = NULL;
    int rc = field_parse(text_string(&answer->body), answer->body.length, &root, error);
    if (rc < 0)
        return rc;
    result->json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return result->json ? 0 : fault_nomem(error);
}
