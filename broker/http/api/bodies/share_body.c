/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"

#include "base/duration.h"
#include "broker/http/request/body.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The body of PUT /v1/vnis/{name}. */

/* A word that is there already is no other. False: there is no room. */
static bool add_word(char list[static SHARED_LIST_MAX + 1], const char *word)
{
    const size_t used = strlen(list);
    if (shared_list_has(list, word))
        return true;
    if (used + 1 + strlen(word) > SHARED_LIST_MAX)
        return false;
    (void)snprintf(list + used, SHARED_LIST_MAX + 1 - used, "%s%s", used > 0 ? "," : "", word);
    return true;
}

static int refuse_list(const char *field, const char *what, struct problem *problem)
{
    return problem_set(problem, 422, "invalid", field,
                       "%s must be a list of %s, together at most %d bytes", field, what,
                       SHARED_LIST_MAX);
}

static int read_users(const json_t *list, char *out, struct problem *problem)
{
    bool good = !list || json_is_array(list);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        const json_int_t uid = json_integer_value(value);
        char word[24];
        (void)snprintf(word, sizeof word, "%" JSON_INTEGER_FORMAT, uid);
        good = json_is_integer(value) && uid >= 0 && uid < UID_UNKNOWN && add_word(out, word);
    }
    return good ? 0 : refuse_list("users", "uids", problem);
}

static int read_clusters(const json_t *list, char *out, struct problem *problem)
{
    bool good = !list || json_is_array(list);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        good = name && cluster_name_valid(name) && add_word(out, name);
    }
    return good ? 0 : refuse_list("clusters", "names of clusters", problem);
}

int share_body_parse(const json_t *body, struct share_body *share, struct problem *problem)
{
    const json_t *users = NULL, *clusters = NULL, *any = NULL, *expires = NULL;
    *share = (struct share_body){.uid = -1};
    const struct body_field fields[] = {{"uid", .number = &share->uid, .max = UINT32_MAX - 1},
                                        {"users", .value = &users},
                                        {"any_user", .value = &any},
                                        {"clusters", .value = &clusters},
                                        {"expires", .value = &expires},
                                        {0}};
    if (body_read_fields(body, "", fields, problem) < 0 ||
        read_users(users, share->users, problem) < 0 ||
        read_clusters(clusters, share->clusters, problem) < 0 ||
        body_lifetime(expires, "expires", "shared VNI", SHARE_DAYS_MAX, &share->lifetime_s,
                      problem) < 0)
        return -1;
    if (any && (!json_is_boolean(any) || (json_is_true(any) && json_array_size(users) > 0)))
        return problem_set(problem, 422, "invalid", "any_user",
                           "any_user must be true, without users, or false");
    if (json_is_true(any))
        strcpy(share->users, "*");
    return 0;
}
