/* Tokens that the broker makes, and the key that it makes them with. */

#include "client/fault.h"
#include "client/field.h"
#include "client/handle.h"
#include "client/narrowing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is not set is not sent. */
static json_t *encode(const struct mcast_narrowing *narrowing)
{
    json_t *body = json_object();
    int rc = body ? 0 : -1;
    if (narrowing->steps)
        rc |= json_object_set_new(body, "steps", json_string(narrowing->steps));
    if (narrowing->expires != 0)
        rc |= json_object_set_new(body, "expires",
                                  json_integer(narrowing->expires - (int64_t)time(NULL)));
    if (narrowing->operations) {
        json_t *list = json_array();
        for (const char *const *word = narrowing->operations; *word; word++)
            rc |= json_array_append_new(list, json_string(*word));
        rc |= json_object_set_new(body, "operations", list);
    }
    if (rc == 0)
        return body;
    json_decref(body);
    return NULL;
}

static int take(json_t *root, char *out, size_t size, struct mcast_error *error)
{
    const char *token = NULL;
    int rc = field_string(root, "token", FIELD_REQUIRED, &token, error);
    if (rc < 0)
        return rc;
    size_t length = strlen(token);
    if (length >= size)
        return fault_set(error, MCAST_USAGE,
                         "there is no room for the token: give %d bytes (MCAST_TOKEN_SIZE)",
                         MCAST_TOKEN_SIZE);
    memcpy(out, token, length + 1);
    return 0;
}

int mcast_token_request(struct mcast *handle, const struct mcast_narrowing *narrowing, char *out,
                        size_t size, struct mcast_error *error)
{
    struct mcast_narrowing mine = MCAST_NARROWING_INIT;
    struct call call = {.method = "POST", .path = "/v1/reservation/tokens"};
    json_t *root = NULL;
    int rc = narrowing ? narrowing_adopt(&mine, narrowing, error) : 0;
    if (size > 0)
        out[0] = '\0';
    if (rc < 0 || (rc = handle_bear(handle, &call, error)) < 0)
        return rc;
    json_t *body = encode(&mine);
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (!text)
        return fault_set(error, MCAST_USAGE, "the restrictions are not UTF-8");
    call.body = text;
    rc = handle_call_json(handle, &call, &root, error);
    free(text);
    if (rc == 0)
        rc = take(root, out, size, error);
    json_decref(root);
    return rc;
}

int mcast_token_rotate(struct mcast *handle, char **json, struct mcast_error *error)
{
    struct call call = {.method = "POST", .path = "/v1/tokens/rotate"};
    json_t *root = NULL;
    int rc = handle_call_json(handle, &call, &root, error);
    if (rc < 0)
        return rc;
    *json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return *json ? 0 : fault_nomem(error);
}
