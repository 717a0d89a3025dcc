/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "core/interconnect/interconnect.h"

/* GET /v1/options, /v1/reservation/options: what a job of a cluster may ask for, and what it gets
 * when it does not say (P3). It is the site's configuration, and shows nothing of any job. */

static void write_classes(struct writer *out, const char *key, uint32_t classes)
{
    writer_begin_array(out, key);
    for (uint32_t bit = 1; bit <= TC_BEST_EFFORT; bit <<= 1)
        if (classes & bit)
            writer_string(out, NULL, traffic_class_word((int)bit));
    writer_end_array(out);
}

static void write_interconnects(struct writer *out, const struct core_options *options)
{
    writer_begin_object(out, "interconnect");
    writer_string(out, "default", interconnect_word(options->interconnect));
    writer_begin_array(out, "allowed");
    for (int kind = 0; kind < INTERCONNECT_COUNT; kind++)
        writer_string(out, NULL, interconnect_word(kind));
    writer_end_array(out);
    writer_end_object(out);
}

static void write_known(struct writer *out, const char *key, uint32_t number)
{
    if (number > 0)
        writer_number(out, key, number);
}

static void write_hwcoll(struct writer *out, const struct core_options *options)
{
    const int last = options->hwcoll ? WISH_REQUIRED : WISH_OFF;
    writer_begin_object(out, "hwcoll");
    writer_string(out, "default", hwcoll_wish_word(WISH_AUTO));
    writer_begin_array(out, "allowed");
    for (int wish = WISH_AUTO; wish <= last; wish++)
        writer_string(out, NULL, hwcoll_wish_word(wish));
    writer_end_array(out);
    writer_bool(out, "available", options->hwcoll);
    if (!options->hwcoll)
        writer_string(out, "reason", options->without.text);
    writer_string(out, "through", options->relay ? "relay" : "direct");
    write_known(out, "min_nodes", options->min_nodes);
    write_known(out, "addresses_per_job", options->addresses);
    write_known(out, "budget", options->budget);
    write_known(out, "total_addresses", options->total);
    writer_end_object(out);
}

static void write_profile(struct writer *out, const struct profile_config *profile,
                          const struct config *config)
{
    const struct config_profile *of_file = config_profile_find(config, profile->name);
    writer_begin_object(out, NULL);
    writer_string(out, "name", profile->name);
    if (of_file && of_file->description[0] != '\0')
        writer_string(out, "description", of_file->description);
    if (profile->vni_count >= 0)
        writer_number(out, "vni_count", (uint64_t)profile->vni_count);
    if (profile->classes)
        write_classes(out, "traffic_classes", profile->classes);
    if (profile->wish)
        writer_string(out, "hwcoll", hwcoll_wish_word(profile->wish));
    write_known(out, "addresses", profile->addresses);
    if (profile->interconnect >= 0)
        writer_string(out, "interconnect", interconnect_word(profile->interconnect));
    writer_end_object(out);
}

static void write_options(struct call *call, const char *cluster,
                          const struct core_options *options)
{
    const struct core *core = engine_core(call->http->engine);
    struct writer *out = &call->out;
    writer_begin_object(out, NULL);
    writer_string(out, "cluster", cluster);
    write_interconnects(out, options);
    writer_begin_object(out, "vnis");
    writer_number(out, "default", options->vnis);
    writer_number(out, "default_single_node", options->vnis_single_node);
    writer_number(out, "max", options->vnis_max);
    writer_end_object(out);
    writer_begin_object(out, "traffic_classes");
    write_classes(out, "default", options->classes);
    write_classes(out, "allowed", options->classes_allowed);
    writer_end_object(out);
    write_hwcoll(out, options);
    reserve_fields_write(out, "fields", options->vnis_max);
    writer_begin_array(out, "profiles");
    const struct profile_config *profile;
    for (uint32_t i = 0; (profile = core_profile(core, cluster, i)); i++)
        write_profile(out, profile, call->http->config);
    writer_end_array(out);
    writer_end_object(out);
}

/* Whose options: of the token's cluster; of the one that is named; of the only one there can be. */
static const char *choose_cluster(struct call *call)
{
    const struct rights *rights = call->http->rights;
    const struct identity *identity = &call->identity;
    if (identity->proof.kind == PROOF_BEARER)
        return identity->proof.token->scope.cluster;
    const char *cluster = target_query(&call->target, "cluster");
    if (!cluster)
        cluster = rights_only_cluster(rights, identity);
    if (!cluster && !rights_cluster(rights, 1))
        cluster = rights_cluster(rights, 0);
    return cluster;
}

int options_handle(struct call *call)
{
    const struct proof *proof = &call->identity.proof;
    struct core_options options;
    if (proof->kind == PROOF_BEARER &&
        tokenproof_allows(proof->token, BEARER_SHOW, NULL, &call->problem) < 0)
        return -1;
    const char *cluster = choose_cluster(call);
    if (!cluster)
        return problem_set(&call->problem, 422, "missing-field", "cluster",
                           "cluster is missing: there are several, which differ in what a job may "
                           "ask for (GET /v1/status names them)");
    if (!core_options(engine_core(call->http->engine), cluster, &options))
        return job_path_no_cluster(call, cluster);
    write_options(call, cluster, &options);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
