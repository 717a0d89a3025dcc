/* SPDX-License-Identifier: Apache-2.0 */
/* Shared VNIs: made, changed, shown and removed. */

#include "client/calls/call.h"
#include "client/handle.h"

#include <string.h>

enum { VNI_NAME_MAX = 32, VNI_USERS_MAX = 4096 };

int names_check_vni(const char *name, struct mcast_error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
    const size_t length = name ? strlen(name) : 0;
    if (length > 0 && length <= VNI_NAME_MAX && strspn(name, allowed) == length)
        return 0;
    return fault_set(error, MCAST_USAGE,
                     "'%.40s' is no name of a shared VNI: 1 to %d of a-z, 0-9, _ . -",
                     name ? name : "", VNI_NAME_MAX);
}

static json_t *encode_users(const struct mcast_vni_request *request)
{
    json_t *users = json_array();
    for (size_t i = 0; i < request->user_count; i++)
        if (json_array_append_new(users, json_integer(request->users[i])) < 0) {
            json_decref(users);
            return NULL;
        }
    return users;
}

static json_t *encode_vni(const struct mcast_vni_request *request)
{
    json_t *body = call_add(json_object(), "uid", request->uid != UINT32_MAX,
                            json_integer((json_int_t)request->uid));
    body = call_add(body, "users", request->user_count > 0, encode_users(request));
    body = call_add(body, "any_user", request->any_user, json_true());
    body = call_add(body, "clusters", request->clusters, call_words(request->clusters));
    return call_add(body, "expires", request->lifetime_s > 0, json_integer(request->lifetime_s));
}

int mcast_vni_create(struct mcast *handle, const struct mcast_vni_request *request, char **json,
                     struct mcast_error *error)
{
    struct mcast_vni_request mine = MCAST_VNI_REQUEST_INIT;
    struct call call = {.rc = struct_adopt(&mine, request, "MCAST_VNI_REQUEST_INIT", error)};
    if (call.rc == 0)
        call.rc = names_check_vni(mine.name, error);
    if (call.rc == 0 && (mine.user_count > VNI_USERS_MAX || (mine.user_count > 0 && !mine.users)))
        call.rc = fault_set(error, MCAST_USAGE, "user_count is %zu: users are at most %d",
                            mine.user_count, mine.users ? VNI_USERS_MAX : 0);
    call_set(&call, "PUT", call_read_root, error, "/v1/vnis/%s", mine.name);
    if (call.rc == 0) /* what was refused is not read */
        call_set_body(&call, encode_vni(&mine), "the clusters' names are", error);
    return handle_run_json(handle, call, json, error);
}

int mcast_vni_list(struct mcast *handle, char **json, struct mcast_error *error)
{
    struct call call = {0};
    call_set(&call, "GET", call_read_root, error, "/v1/vnis");
    return handle_run_json(handle, call, json, error);
}

int mcast_vni_show(struct mcast *handle, const char *name, char **json, struct mcast_error *error)
{
    struct call call = {.rc = names_check_vni(name, error)};
    call_set(&call, "GET", call_read_root, error, "/v1/vnis/%s", name);
    return handle_run_json(handle, call, json, error);
}

int mcast_vni_remove(struct mcast *handle, const char *name, bool when_unused, char **json,
                     struct mcast_error *error)
{
    struct call call = {.rc = names_check_vni(name, error)};
    call_set(&call, "DELETE", call_read_root, error, "/v1/vnis/%s%s", name,
             when_unused ? "?when=unused" : "");
    return handle_run_json(handle, call, json, error);
}
