/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/auth/gate.h"
#include "broker/http/auth/pluginlogin.h"
#include "broker/http/api/bodies/job_json.h"
#include "broker/http/api/openapi.h"
#include "broker/http/listen/tls.h"
#include "broker/http/routes.h"
#include "base/memory.h"

#include <stdlib.h>

/* What the broker says of itself, and of who asks. */

/* GET /healthz: the event loop runs, or there would be no answer. */
int health_alive(struct call *call)
{
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "status", "alive");
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

/* GET /readyz: jobs can be served. Without the fabric manager they can, only without multicast
 * addresses, so its state is shown but does not count. */
int health_ready(struct call *call)
{
    const struct engine *engine = call->http->engine;
    const char *fault = engine_storage_fault(engine);
    struct core_status status;
    if (engine_role(engine) != ROLE_LEADER)
        return gate_refuse_role(call);
    if (fault)
        return problem_set(&call->problem, 503, "storage", NULL, "nothing can be saved: %s", fault);
    core_status(engine_core(engine), &status);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "status", "ready");
    writer_string(&call->out, "fabric_manager", link_state_word(status.link));
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

/* GET /openapi.json */
int openapi_handle(struct call *call)
{
    call->document = openapi_document;
    call->document_length = openapi_length;
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

/* GET /v1/whoami: who the broker takes the peer for, and what that makes it. */

static const char *proof_word(enum proof_kind kind)
{
    static const char *const words[] = {
        [PROOF_NONE] = "none",   [PROOF_SOCKET] = "socket", [PROOF_CERTIFICATE] = "certificate",
        [PROOF_MUNGE] = "munge", [PROOF_BEARER] = "bearer", [PROOF_PLUGIN] = "plugin"};
    return words[kind];
}

static void write_cluster_names(struct call *call, const char *name, uint64_t bits)
{
    const char *cluster;
    writer_begin_array(&call->out, name);
    for (size_t i = 0; (cluster = rights_cluster(call->http->rights, i)); i++)
        if (bits >> i & 1)
            writer_string(&call->out, NULL, cluster);
    writer_end_array(&call->out);
}

/* Where jobs that are relayed make their trees (B9). */
static void write_front(struct writer *out, const struct core_config *config)
{
    bool relayed = false;
    for (uint32_t i = 0; i < config->cluster_count; i++)
        relayed |= config->clusters[i].relay;
    if (!relayed)
        return;
    writer_begin_object(out, "front");
    writer_string(out, "url", config->relay_url);
    writer_string(out, "ca", config->relay_ca);
    writer_end_object(out);
}

int whoami_handle(struct call *call)
{
    struct writer *out = &call->out;
    const struct identity *identity = &call->identity;
    const struct proof *proof = &identity->proof;
    char who[IDENTITY_TEXT_SIZE];
    writer_begin_object(out, NULL);
    writer_string(out, "identity", identity_format(proof, who, sizeof who));
    writer_string(out, "proof", proof_word(proof->kind));
    if (proof->kind == PROOF_SOCKET || proof->kind == PROOF_MUNGE)
        writer_number(out, "uid", proof->uid);
    if (proof->kind == PROOF_CERTIFICATE) {
        writer_begin_array(out, "names");
        for (const char *const *name = proof->names; *name; name++)
            writer_string(out, NULL, *name);
        writer_end_array(out);
    }
    if (proof->kind == PROOF_BEARER)
        token_json_write(out, proof->token);
    writer_bool(out, "admin", identity->admin);
    write_cluster_names(call, "clusters", identity->clusters);
    if (identity->node)
        writer_string(out, "node", identity->node);
    write_cluster_names(call, "node_of", identity->node_of);
    const char *only = rights_cluster(call->http->rights, 0);
    if (proof->kind != PROOF_NONE && only && !rights_cluster(call->http->rights, 1))
        writer_string(out, "only_cluster", only);
    if (proof->kind != PROOF_NONE)
        write_front(out, &call->http->config->core);
    writer_end_object(out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}

/* GET /v1/status: numbers, nothing secret. The doctor says what is wrong and what to do. */

/* 0 is a time that is not known, or that there is none. */
static void write_time(struct writer *out, const char *key, int64_t unix_ms)
{
    writer_time(out, key, unix_ms != 0 ? unix_ms : -1);
}

/* What they say may name jobs: for admins, and who manages the cluster that they are of. */
static void write_alarms(struct call *call, const struct core *core)
{
    struct writer *out = &call->out;
    const struct identity *who = &call->identity;
    writer_begin_array(out, "alarms");
    for (const struct alarm *alarm = core_alarms(core); alarm; alarm = alarm->next) {
        writer_begin_object(out, NULL);
        writer_string(out, "kind", alarm_kind_word(alarm->kind));
        if (alarm->cluster)
            writer_string(out, "cluster", alarm->cluster);
        writer_time(out, "since", alarm->since_ms);
        const bool told =
            who->admin || (alarm->cluster ? rights_manages(call->http->rights, who, alarm->cluster)
                                          : who->clusters != 0);
        writer_string(out, "detail", told ? alarm->detail : "administrators are told more");
        writer_string(out, "advice", alarm_kind_advice(alarm->kind));
        writer_end_object(out);
    }
    writer_end_array(out);
}

/* The fabric manager's own words are for admins: they may name a job of any user. */
static void write_fabric(struct writer *out, const struct core_status *status,
                         const struct fmapi_counters *transport, bool admin)
{
    writer_begin_object(out, "fabric_manager");
    writer_string(out, "link", link_state_word(status->link));
    writer_string(out, "url", status->link_url[0] != '\0' ? status->link_url : NULL);
    writer_bool(out, "verify", !transport->unverified);
    write_time(out, "since", status->link_since_ms);
    writer_string(out, "last_error", admin ? status->link_error : status->link_cause);
    writer_string(out, "advice", status->link_advice);
    writer_string(out, "list_error", admin ? status->list_error : status->list_cause);
    writer_number(out, "reserves_failed", status->reserves_failed);
    write_time(out, "reserves_failing_since", status->reserves_failing_ms);
    writer_string(out, "reserve_error", admin ? status->reserve_error : status->reserve_cause);
    writer_number(out, "losses", status->link_losses);
    writer_number(out, "reserve_wait_ms", (uint64_t)status->reserve_wait_ms);
    write_time(out, "listed", status->link_listed_ms);
    write_time(out, "answered", status->link_heard_ms);
    write_time(out, "login_since", transport->login_since_ms);
    write_time(out, "login_expires", transport->login_expires_ms);
    if (transport->date_skew_ms != INT64_MIN) {
        writer_number(out, "clock_apart_ms", (uint64_t)llabs(transport->date_skew_ms));
        writer_bool(out, "clock_ahead", transport->date_skew_ms > 0);
    }
    writer_end_object(out);
}

/* As [vni] pool has it: a Slurm that gives VNIs itself must have others. */
static void write_numbers(struct writer *out, const struct idset *pool)
{
    char *text = NULL;
    size_t size;
    FILE *stream = memory_must(open_memstream(&text, &size));
    idset_print(stream, pool);
    if (fclose(stream) == 0)
        writer_string(out, "numbers", text);
    free(text);
}

static void write_pools(struct writer *out, const struct core_status *status,
                        const struct core *core, bool admin)
{
    writer_begin_object(out, "vnis");
    write_numbers(out, &core_config_of(core)->vni_pool);
    writer_number(out, "free", status->vnis_free);
    writer_number(out, "live", status->vnis_live);
    writer_number(out, "held", status->vnis_in_quarantine);
    writer_number(out, "quarantined", status->vnis_suspect);
    writer_number(out, "overdue", status->vnis_overdue);
    writer_number(out, "pool", status->vnis_pool);
    writer_number(out, "unconfirmed", status->vnis_unconfirmed);
    write_time(out, "none_since", status->vnis_none_ms);
    writer_number(out, "held_most", status->vnis_held_most);
    if (admin && status->vnis_held_most_uid != UID_UNKNOWN)
        writer_number(out, "held_most_uid", status->vnis_held_most_uid);
    writer_number(out, "refused", status->vnis_refused);
    writer_number(out, "shared", status->vnis_shared);
    writer_number(out, "other_partitions", status->vnis_foreign);
    writer_number(out, "other_partitions_used", status->vnis_foreign_used);
    writer_end_object(out);
    writer_begin_object(out, "partition_keys");
    writer_number(out, "free", status->pkeys_free);
    writer_number(out, "taken", status->pkeys_taken);
    writer_number(out, "pool", status->pkeys_pool);
    writer_number(out, "held_most", status->pkeys_held_most);
    writer_number(out, "refused", status->pkeys_refused);
    writer_end_object(out);
    writer_begin_object(out, "nodes");
    writer_number(out, "lingering", status->nodes_lingering);
    writer_string(out, "lingering_first", core_lingering_node(core));
    write_time(out, "waited_since", status->nodes_waited_ms);
    writer_end_object(out);
    writer_begin_object(out, "addresses");
    writer_number(out, "total", status->addresses_total);
    writer_number(out, "reserved", status->use.addresses);
    writer_number(out, "per_job", status->addresses_per_job);
    write_time(out, "full_since", status->addresses_full_ms);
    writer_end_object(out);
    writer_begin_object(out, "jobs");
    writer_number(out, "active", status->use.jobs_active);
    writer_number(out, "releasing", status->use.jobs_releasing);
    writer_number(out, "reserved", status->use.jobs_reserved);
    writer_number(out, "adopted", status->use.jobs_adopted);
    writer_end_object(out);
}

/* Of a cluster whose Slurm reserves by its own plugin (B9). */
static void write_plugin(struct writer *out, const struct config_cluster *cluster,
                         const struct plugin_use *use)
{
    if (!use)
        return;
    writer_begin_object(out, "plugin");
    writer_string(out, "limit", cluster->plugin_limit == CONFIG_LIMIT_REFUSE ? "refuse" : "cut");
    write_time(out, "asked", use->asked_ms);
    writer_bool(out, "former_login", use->former_accepted);
    writer_number(out, "former_login_requests", use->former_count);
    writer_end_object(out);
}

static void write_clusters(struct call *call)
{
    struct writer *out = &call->out;
    const struct http *http = call->http;
    const struct config *config = http->config;
    const struct core *core = engine_core(http->engine);
    struct core_cluster_status cluster;
    writer_begin_array(out, "clusters");
    for (uint32_t i = 0; core_cluster_status(core, i, &cluster); i++) {
        writer_begin_object(out, NULL);
        writer_string(out, "name", cluster.name);
        writer_number(out, "active", cluster.use.jobs_active);
        writer_number(out, "releasing", cluster.use.jobs_releasing);
        writer_number(out, "vnis_live", cluster.use.vnis_live);
        writer_number(out, "vnis_held", cluster.use.vnis_held);
        writer_number(out, "addresses", cluster.use.addresses);
        writer_number(out, "budget", cluster.budget);
        write_time(out, "synced", cluster.synced_ms);
        writer_bool(out, "list_command", cluster.jobpoll);
        write_time(out, "listed", cluster.jobpoll_ms);
        writer_number(out, "list_failures", cluster.jobpoll_failures);
        const bool failed = cluster.jobpoll_error[0] != '\0'; /* it may quote a job */
        writer_string(out, "list_error",
                      failed && !rights_manages(http->rights, &call->identity, cluster.name)
                          ? "list_command failed"
                          : cluster.jobpoll_error);
        if (failed)
            write_time(out, "list_failing_since", cluster.jobpoll_failing_ms);
        if (config->clusters[i].nodes[0] != '\0')
            writer_string(out, "nodes", config->clusters[i].nodes);
        write_plugin(out, &config->clusters[i],
                     pluginlogins_use(http->plugin_logins, config->clusters[i].name));
        writer_end_object(out);
    }
    writer_end_array(out);
}

static void write_queues(struct writer *out, const struct core_status *status,
                         const struct engine_counters *counters, const struct http *http)
{
    writer_begin_object(out, "queues");
    writer_number(out, "fm_reserve", status->calls_queued_reserve);
    writer_number(out, "fm_release", status->use.releases);
    writer_number(out, "fm_check", status->calls_queued_check);
    writer_number(out, "fm_cleanup", status->calls_queued_cleanup);
    writer_number(out, "fm_under_way", status->calls_in_flight);
    writer_number(out, "unsaved", counters->unsaved);
    writer_number(out, "requests", http->owed);
    writer_end_object(out);
}

static void write_connections(struct writer *out, const struct http *http)
{
    uint64_t refused = 0;
    for (int i = 0; i < TRAFFIC_REFUSALS; i++)
        refused += http->traffic.refused[i];
    writer_begin_object(out, "connections");
    writer_number(out, "open", http->quota.taken);
    writer_number(out, "max", http->quota.max);
    writer_number(out, "refused", refused);
    writer_number(out, "event_streams", http->traffic.subscribers);
    writer_end_object(out);
}

static const char *phase_word(enum leader_phase phase)
{
    static const char *const words[] = {[LEADER_TESTING] = "testing",
                                        [LEADER_STANDBY] = "standby",
                                        [LEADER_LEADING] = "leading",
                                        [LEADER_ENDED] = "ended"};
    return words[phase];
}

static void write_standbys(struct writer *out, const struct etcd_standbys *standbys)
{
    writer_begin_array(out, "standbys");
    for (size_t i = 0; i < standbys->count; i++) {
        const struct etcd_standby *standby = &standbys->all[i];
        writer_begin_object(out, NULL);
        writer_string(out, "url", standby->url);
        writer_string(out, "host", standby->host);
        writer_string(out, "version", standby->version);
        writer_string(out, "configuration", standby->configuration);
        writer_end_object(out);
    }
    writer_end_array(out);
    writer_number(out, "standbys_malformed", standbys->malformed);
}

/* Of one among several brokers (B7). */
static void write_leadership(struct writer *out, const struct leadership_facts *facts,
                             int64_t now_ms)
{
    if (!facts)
        return;
    const int64_t away_ms = facts->unreachable_ms;
    writer_begin_object(out, "leadership");
    writer_string(out, "phase", phase_word(facts->phase));
    writer_string(out, "leader", facts->leader[0] != '\0' ? facts->leader : NULL);
    writer_string(out, "member", facts->member[0] != '\0' ? facts->member : NULL);
    writer_number(out, "lease_ms", (uint64_t)facts->lease_ms);
    if (facts->lease_age_ms >= 0)
        writer_number(out, "lease_age_ms", (uint64_t)facts->lease_age_ms);
    writer_number(out, "answered", facts->answered);
    writer_number(out, "unanswered", facts->unanswered);
    writer_number(out, "answer_us", (uint64_t)facts->took_us);
    write_time(out, "unreachable_since", away_ms >= 0 ? now_ms - away_ms : 0);
    writer_string(out, "last_error", facts->error);
    writer_string(out, "configuration", facts->configuration);
    if (facts->looked)
        write_standbys(out, &facts->standbys);
    writer_end_object(out);
}

static void write_commits(struct writer *out, const struct engine_counters *counters)
{
    writer_begin_object(out, "commits");
    writer_number(out, "count", counters->commits);
    writer_number(out, "failures", counters->commit_failures);
    writer_number(out, "records", counters->records);
    if (counters->storage_failing) {
        writer_string(out, "storage_error", counters->storage_error);
        write_time(out, "storage_failing_since", counters->storage_failing_ms);
    }
    writer_end_object(out);
}

int status_handle(struct call *call)
{
    struct writer *out = &call->out;
    const struct http *http = call->http;
    struct core_status status;
    struct engine_counters counters;
    core_status(engine_core(http->engine), &status);
    engine_counters(http->engine, &counters);
    writer_begin_object(out, NULL);
    writer_string(out, "version", MCAST_VERSION);
    writer_string(out, "role", broker_role_word(counters.role));
    writer_time(out, "started", counters.started_ms);
    write_leadership(out, counters.leadership, engine_now_ms(http->engine));
    write_alarms(call, engine_core(http->engine));
    writer_bool(out, "reload_refused", http->reload_refused);
    writer_string(out, "reload_error", call->identity.admin ? http->reload_refusal : "");
    write_time(out, "reloaded", http->reloaded_ms);
    if (http->config->munge_socket[0] != '\0')
        write_time(out, "munged_away_since", http->munged_away_ms);
    write_time(out, "certificate_expires", http->tls ? tls_expires(http->tls) * 1000 : 0);
    write_fabric(out, &status, &counters.fabric, call->identity.admin);
    write_pools(out, &status, engine_core(http->engine), call->identity.admin);
    write_clusters(call);
    if (http->config->front_listen[0] != '\0') {
        writer_begin_object(out, "front");
        writer_string(out, "url", http->config->core.relay_url);
        writer_end_object(out);
    }
    writer_begin_object(out, "cleanups");
    writer_number(out, "pending", status.cleanups.pending);
    writer_number(out, "done", status.cleanups.done);
    writer_number(out, "given_up", status.cleanups.given_up);
    writer_end_object(out);
    write_queues(out, &status, &counters, http);
    write_connections(out, http);
    writer_number(out, "loop_absence_max_ms", (uint64_t)counters.loop_stall_us_peak / 1000);
    writer_number(out, "strays", status.strays);
    writer_begin_object(out, "events");
    writer_number(out, "first", status.first_seq);
    writer_number(out, "last", status.last_seq);
    writer_end_object(out);
    write_commits(out, &counters);
    writer_end_object(out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
