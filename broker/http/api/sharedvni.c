/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/auth/gate.h"
#include "broker/http/routes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* /v1/vnis: shared VNIs (B1). Who may not see one is told that there is none. */

/* ---- showing ---- */

/* Words between commas; numbers: as such. */
static void write_list(struct writer *out, const char *key, const char *list, bool numbers)
{
    char word[CLUSTER_NAME_MAX + 1];
    writer_begin_array(out, key);
    for (const char *at = list; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (numbers)
            writer_number(out, NULL, strtoull(word, NULL, 10));
        else
            writer_string(out, NULL, word);
        at += length + (at[length] == ',');
    }
    writer_end_array(out);
}

/* Those that may only use it do not learn who else may, and does. */
static void write_shared(struct writer *out, const struct shared_vni *one, enum share_sight sight)
{
    const struct shared_vni_record *rec = &one->record;
    const bool any = strcmp(rec->users, "*") == 0;
    writer_begin_object(out, NULL);
    writer_string(out, "name", rec->name);
    writer_number(out, "vni", rec->vni);
    writer_number(out, "uid", rec->uid);
    writer_string(out, "state", shared_state_word(rec->state));
    writer_time(out, "created", rec->created_ms);
    writer_time(out, "expires", rec->expires_ms != 0 ? rec->expires_ms : -1);
    if (sight != SHARE_USER) {
        writer_bool(out, "any_user", any);
        write_list(out, "users", any ? "" : rec->users, true);
        write_list(out, "clusters", rec->clusters, false);
        writer_number(out, "jobs", one->active);
        writer_number(out, "waiting", one->quarantined);
    }
    writer_end_object(out);
}

static enum share_sight sight_of(const struct call *call, const struct shared_vni *one)
{
    return one ? permit_share(call->http->rights, &call->identity, one) : SHARE_HIDDEN;
}

/* One that was removed is shown while its VNI is quarantined, to whose it was: it counts for him
 * until then. */
static bool may_see(const struct shared_vni *one, enum share_sight sight)
{
    return sight == SHARE_OWNER ||
           (sight != SHARE_HIDDEN && one->record.state != SHARED_QUARANTINED);
}

int shares_handle(struct call *call)
{
    const struct shared_vni *one = core_shared(engine_core(call->http->engine));
    writer_begin_object(&call->out, NULL);
    writer_begin_array(&call->out, "vnis");
    for (; one; one = one->next) {
        const enum share_sight sight = sight_of(call, one);
        if (may_see(one, sight))
            write_shared(&call->out, one, sight);
    }
    writer_end_array(&call->out);
    writer_end_object(&call->out);
    return call_reply_saved(call, MHD_HTTP_OK, CALL_JSON);
}

static int check_name(struct call *call)
{
    if (shared_name_valid(call->target.segments[2]))
        return 0;
    return problem_set(&call->problem, 422, "invalid", "name",
                       "the name of a shared VNI is 1 to %d of a-z, 0-9, '_', '.' and '-'",
                       SHARED_NAME_MAX);
}

/* NULL: there is none that he may see. */
static const struct shared_vni *find_shared(struct call *call, enum share_sight *sight)
{
    const char *name = call->target.segments[2];
    if (check_name(call) < 0)
        return NULL;
    const struct shared_vni *one = core_find_shared(engine_core(call->http->engine), name);
    *sight = sight_of(call, one);
    if (*sight != SHARE_HIDDEN)
        return one;
    problem_set(&call->problem, 404, "not-found", NULL,
                "there is no shared VNI %s, or it is for others", name);
    return NULL;
}

/* The last one of this name that was removed; NULL: none, or it was another's. */
static const struct shared_vni *find_removed(const struct call *call)
{
    const struct shared_vni *one = core_shared(engine_core(call->http->engine)), *found = NULL;
    for (; one; one = one->next)
        if (one->record.state == SHARED_QUARANTINED && sight_of(call, one) == SHARE_OWNER &&
            strcmp(one->record.name, call->target.segments[2]) == 0)
            found = one;
    return found;
}

int share_show_handle(struct call *call)
{
    enum share_sight sight;
    const struct shared_vni *removed = find_removed(call), *one = find_shared(call, &sight);
    if (!one && !removed)
        return -1;
    write_shared(&call->out, one ? one : removed, one ? sight : SHARE_OWNER);
    return call_reply_saved(call, MHD_HTTP_OK, CALL_JSON);
}

/* Of what was asked for by its owner, or an admin. */
void share_render(struct call *call, const struct answer *answer)
{
    write_shared(&call->out, answer->shared, SHARE_OWNER);
}

/* ---- making, changing, removing ---- */

/* An admin may make one for anybody, others for themselves. */
static int check_owner(struct call *call, int64_t given, uint32_t *uid)
{
    const struct identity *identity = &call->identity;
    const struct proof *proof = &identity->proof;
    const bool has_uid = proof_is_user(proof, proof->uid);
    if (!identity->admin && !(identity->shares && has_uid))
        return gate_forbid(call, "only an admin, or a user of [vni] shared_users in the "
                                 "configuration, may make shared VNIs");
    if (given < 0 && !has_uid)
        return problem_set(&call->problem, 422, "missing-field", "uid",
                           "uid is missing: the number of the user whose shared VNI it is to be");
    if (given >= 0 && !identity->admin && given != (int64_t)proof->uid)
        return gate_forbid(call, "only an admin may make shared VNIs of other users");
    *uid = given >= 0 ? (uint32_t)given : proof->uid;
    return 0;
}

/* Every cluster that it names has to be there: a misspelt one would let no job in. */
static int check_clusters(struct call *call, const char *clusters)
{
    char name[CLUSTER_NAME_MAX + 1], text[NO_CLUSTER_SIZE];
    for (const char *at = clusters; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (!rights_knows(call->http->rights, name))
            return problem_set(&call->problem, 422, "invalid", "clusters", "%s",
                               core_config_no_cluster(&call->http->config->core, name, text));
        at += length + (at[length] == ',');
    }
    return 0;
}

int share_handle(struct call *call)
{
    struct share_body body;
    struct core_event event = {.kind = CORE_SHARE, .ticket = call_ticket(call)};
    struct share_request *request = &event.u.share;
    if (check_name(call) < 0 || !call_json(call) ||
        share_body_parse(call->json, &body, &call->problem) < 0 ||
        check_owner(call, body.uid, &request->uid) < 0 || check_clusters(call, body.clusters) < 0)
        return -1;
    request->name = call->target.segments[2];
    request->users = body.users;
    request->clusters = body.clusters;
    request->admin = call->identity.admin;
    if (body.lifetime_s > 0)
        request->expires_ms = engine_now_ms(call->http->engine) + body.lifetime_s * 1000;
    engine_step(call->http->engine, &event);
    return 0;
}

int unshare_handle(struct call *call)
{
    const char *when = target_query(&call->target, "when");
    enum share_sight sight;
    if (when && strcmp(when, "now") != 0 && strcmp(when, "unused") != 0)
        return problem_set(&call->problem, 422, "invalid", "when",
                           "when is now (refused while jobs have it), or unused (no new jobs, and "
                           "removed when no job has it)");
    const struct shared_vni *one = find_shared(call, &sight);
    if (!one)
        return -1;
    if (sight != SHARE_OWNER)
        return gate_forbid(call, "only its owner or an admin may remove a shared VNI");
    struct core_event event = {.kind = CORE_UNSHARE,
                               .ticket = call_ticket(call),
                               .u.unshare = {.name = one->record.name,
                                             .when_unused = when && strcmp(when, "unused") == 0}};
    engine_step(call->http->engine, &event);
    return 0;
}
