/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/call.h"
#include "client/fault.h"
#include "client/calls/field.h"

#include <stdarg.h>
#include <stdio.h>
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

void call_release(struct call *call)
{
    free(call->path);
    free(call->body);
    *call = (struct call){0};
}

int call_set(struct call *call, const char *method, call_read_fn *read, struct mcast_error *error,
             const char *path, ...)
{
    va_list args;
    call->method = method;
    call->read = read;
    va_start(args, path);
    int length = vasprintf(&call->path, path, args);
    va_end(args);
    if (length < 0)
        call->path = NULL;
    return length < 0 ? fault_nomem(error) : 0;
}

int call_set_body(struct call *call, json_t *body, const char *what, struct mcast_error *error)
{
    if (!body)
        return fault_set(error, MCAST_USAGE, "%s not UTF-8", what);
    call->body = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return call->body ? 0 : fault_nomem(error);
}

json_t *call_words(const char *const *words)
{
    json_t *list = json_array();
    int rc = 0;
    for (; *words; words++)
        rc |= json_array_append_new(list, json_string(*words));
    if (rc == 0)
        return list;
    json_decref(list);
    return NULL;
}

int call_read_root(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    return field_parse(text_string(&answer->body), answer->body.length, &result->root, error);
}

int call_read_json(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    int rc = call_read_root(answer, result, error);
    if (rc < 0)
        return rc;
    result->json = json_dumps(result->root, JSON_COMPACT);
    json_decref(result->root);
    result->root = NULL;
    return result->json ? 0 : fault_nomem(error);
}

int call_adopt(void *mine, const void *given, const char *init, struct mcast_error *error)
{
    const unsigned char *bytes = given;
    size_t known, size;
    memcpy(&known, mine, sizeof(known));
    memcpy(&size, given, sizeof(size));
    if (size < sizeof(size))
        return fault_set(error, MCAST_USAGE, "a struct's size is not set; begin with %s", init);
    for (size_t i = known; i < size; i++) {
        if (bytes[i] != 0)
            return fault_set(error, MCAST_USAGE,
                             "the program sets more, after %s, than libmcast %s knows; update "
                             "libmcast",
                             init, MCAST_VERSION);
    }
    memcpy(mine, given, size < known ? size : known);
    return 0;
}
