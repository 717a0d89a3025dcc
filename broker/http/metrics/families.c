/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/metrics.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* All metrics there are, in one table (docs/metrics.md): a test holds the two against each other.
 */

/* Where a value is, and how it is written. */
enum value_type {
    VALUE_U32,
    VALUE_U64,
    VALUE_BOOL,
    VALUE_TEXT, /* whether it is not "" */
    VALUE_TIME,
    VALUE_MICROSECONDS,
    VALUE_HISTOGRAM
};
enum value_base { OF_READINGS, OF_CLUSTER, OF_POLLED_CLUSTER, OF_HTTP };

struct family {
    const char *name; /* NULL: one more sample of the family above */
    enum exposition_kind kind;
    const char *help;
    const char *label, *word; /* of this sample; or NULL */
    enum value_type type;
    enum value_base base;
    size_t offset;
    void (*write)(struct exposition *to, const struct readings *readings); /* or NULL */
};

/* An int64_t is a time in milliseconds, since 1970 or not. */
#define FIELD(root, structure, field)                                                              \
    .type = _Generic(((structure *)0)->field, uint32_t                                             \
                     : VALUE_U32, uint64_t                                                         \
                     : VALUE_U64, bool                                                             \
                     : VALUE_BOOL, int64_t                                                         \
                     : VALUE_TIME, const char *                                                    \
                     : VALUE_TEXT, const struct histogram *                                        \
                     : VALUE_HISTOGRAM),                                                           \
    .base = (root), .offset = offsetof(structure, field)
#define READ(field) FIELD(OF_READINGS, struct readings, field)
#define STATUS(field) READ(status.field)
#define ENGINE(field) READ(counters.field)
#define USAGE(field) READ(usage.field)
#define CLUSTER(field) FIELD(OF_CLUSTER, struct core_cluster_status, field)
/* Without a list_command there is nothing that can fail. */
#define POLLED(field) FIELD(OF_POLLED_CLUSTER, struct core_cluster_status, field)
#define DURATION(field)                                                                            \
    .type = VALUE_MICROSECONDS, .base = OF_READINGS, .offset = offsetof(struct readings, field)
#define HTTP(field) FIELD(OF_HTTP, struct http, field)
#define LABEL(name, text) .label = (name), .word = (text)

/* ---- families with other samples than a field ---- */

/* All that there can be, also those that are off: an alert needs the zero to end. */
static void write_alarms(struct exposition *to, const struct readings *readings)
{
    for (enum alarm_kind kind = 0; kind < ALARM_KIND_COUNT; kind++) {
        struct core_cluster_status cluster = {.name = ""}; /* of none */
        uint32_t next = 0;
        do
            exposition_count(to,
                             alarm_on(readings->core, kind, cluster.name[0] ? cluster.name : NULL),
                             LABELS("alarm", alarm_kind_word(kind), "cluster", cluster.name));
        while (core_cluster_status(readings->core, next++, &cluster));
    }
}

static void write_build(struct exposition *to, const struct readings *readings)
{
    (void)readings;
    exposition_count(to, 1, LABELS("version", MCAST_VERSION));
}

static void write_role(struct exposition *to, const struct readings *readings)
{
    for (int role = ROLE_STARTING; role <= ROLE_STANDBY; role++)
        exposition_count(to, (int)readings->counters.role == role,
                         LABELS("role", broker_role_word((enum broker_role)role)));
}

/* All of them, also those that never happened: rate() needs the zero to see the first one. */
static void write_outcomes(struct exposition *to, const struct readings *readings)
{
    struct core_cluster_status cluster;
    for (uint32_t i = 0; core_cluster_status(readings->core, i, &cluster); i++)
        for (int kind = EVENT_RESERVED; kind <= EVENT_LINGERING; kind++)
            if (kind < EVENT_LINK_UP || kind == EVENT_LINGERING)
                exposition_count(to, cluster.published[kind],
                                 LABELS("cluster", cluster.name, "outcome", event_kind_word(kind)));
}

static void write_link(struct exposition *to, const struct readings *readings)
{
    for (int state = LINK_DOWN; state <= LINK_UP; state++)
        exposition_count(to, (int)readings->status.link == state,
                         LABELS("state", link_state_word((enum link_state)state)));
}

static void write_urls(struct exposition *to, const struct readings *readings)
{
    const struct core_config *config = core_config_of(readings->core);
    for (uint32_t i = 0; i < config->fm_url_count; i++)
        exposition_count(to, strcmp(config->fm_urls[i], readings->status.link_url) == 0,
                         LABELS("url", config->fm_urls[i]));
}

/* Whole lists are counted where no kind of call is. */
static const char *call_word(int kind)
{
    return kind == FMCALL_NONE ? "list" : fmcall_kind_word((enum fmcall_kind)kind);
}

static void write_calls(struct exposition *to, const struct readings *readings)
{
    for (int kind = FMCALL_NONE; kind < FABRIC_KINDS; kind++)
        for (int outcome = FM_OK; outcome < FABRIC_OUTCOMES; outcome++)
            exposition_count(to, readings->counters.fm->calls[kind][outcome],
                             LABELS("kind", call_word(kind), "outcome",
                                    fmcall_outcome_word((enum fmcall_outcome)outcome)));
}

static void write_call_times(struct exposition *to, const struct readings *readings)
{
    for (int kind = FMCALL_NONE; kind < FABRIC_KINDS; kind++)
        exposition_histogram(to, &readings->counters.fm->times[kind],
                             LABELS("kind", call_word(kind)));
}

static void write_login_times(struct exposition *to, const struct readings *readings)
{
    exposition_histogram(to, &readings->counters.fm->login_times, NULL);
}

static void write_clock_skew(struct exposition *to, const struct readings *readings)
{
    const int64_t skew_ms = readings->counters.fabric.date_skew_ms;
    if (core_config_of(readings->core)->fm_present && skew_ms != INT64_MIN)
        exposition_real(to, (double)skew_ms / 1e3, NULL);
}

static const char *route_word(size_t row)
{
    return row < ROUTES ? routes[row].pattern : "none";
}

/* HEAD is answered as GET is, so it is counted there. */
static const char *row_method(size_t row)
{
    return row < ROUTES ? method_word(routes[row].method) : "";
}

static void write_answers(struct exposition *to, const struct readings *readings)
{
    const struct traffic *traffic = &readings->http->traffic;
    for (size_t row = 0; row <= ROUTES; row++) {
        char status[12];
        for (int i = 0; i < STATUS_END - STATUS_FIRST; i++) {
            if (traffic->answered[row][i] == 0)
                continue;
            (void)snprintf(status, sizeof status, "%d", i + STATUS_FIRST);
            exposition_count(
                to, traffic->answered[row][i],
                LABELS("method", row_method(row), "route", route_word(row), "status", status));
        }
    }
}

/* Of routes that were called: a histogram is long. */
static void write_times(struct exposition *to, const struct readings *readings)
{
    const struct traffic *traffic = &readings->http->traffic;
    for (size_t row = 0; row <= ROUTES; row++)
        if (traffic->times[row].count > 0)
            exposition_histogram(to, &traffic->times[row],
                                 LABELS("method", row_method(row), "route", route_word(row)));
}

/* ---- the table ---- */

/* clang-format off */
static const struct family families[] = {
    {"mcastd_build_info", GAUGE, "1, with the version as a label.", .write = write_build},
    {"mcastd_role", GAUGE, "1 for the role that the broker has.", .write = write_role},
    {"mcastd_lease_seconds", GAUGE, "With several brokers, for how long etcd granted this one's lease; "
     "0: it has none, or is alone.", DURATION(lease_us)},
    {"mcastd_lease_age_seconds", GAUGE, "How long ago that lease was extended.",
     DURATION(lease_age_us)},
    {"mcastd_standbys", GAUGE, "Brokers that wait to take over from this one, which leads.",
     READ(standbys)},
    {"mcastd_leaders_total", COUNTER, "How often this broker has seen that another one leads than "
     "before, or none.", READ(leaders)},
    {"mcastd_etcd_questions_total", COUNTER, "Questions about who leads that etcd has answered, or "
     "not in time.", LABEL("outcome", "answered"), READ(etcd_answered)},
    {LABEL("outcome", "unanswered"), READ(etcd_unanswered)},
    {"mcastd_etcd_answer_duration_seconds", HISTOGRAM, "How long those that were answered took.",
     READ(etcd_times)},
    {"mcastd_etcd_unreachable_seconds", GAUGE, "For how long etcd has answered none of them; 0: it "
     "does.", DURATION(etcd_away_us)},
    {"mcastd_reloads_total", COUNTER, "Reloads of the configuration, applied or refused as a "
     "whole.", LABEL("outcome", "applied"), HTTP(reloads)},
    {LABEL("outcome", "refused"), HTTP(reloads_refused)},
    {"mcastd_reload_refused", GAUGE, "1 when the last reload was refused: the files differ from "
     "the configuration in force.", HTTP(reload_refused)},
    {"mcastd_steps_total", COUNTER, "Events that the core has processed.", ENGINE(steps)},
    {"mcastd_loop_absence_seconds", HISTOGRAM, "How long turns of the event loop took: no other "
     "request is served meanwhile.", ENGINE(loop_stall)},
    {"mcastd_loop_absence_max_seconds", GAUGE, "The longest turn of the event loop in the last "
     "five minutes.", DURATION(counters.loop_stall_us_peak)},
    {"mcastd_loop_cpu_max_seconds", GAUGE, "CPU time that the event loop took in one turn, at most "
     "in the last five minutes.", DURATION(counters.loop_cpu_us_peak)},
    {"process_start_time_seconds", GAUGE, "When the broker started, Unix time.",
     ENGINE(started_ms)},
    {"process_cpu_seconds_total", COUNTER, "CPU time taken, user and system.",
     DURATION(usage.cpu_us)},
    {"process_resident_memory_bytes", GAUGE, "Resident memory.", USAGE(resident_bytes)},
    {"process_virtual_memory_bytes", GAUGE, "Virtual memory.", USAGE(virtual_bytes)},
    {"process_open_fds", GAUGE, "Open file descriptors.", USAGE(fds)},
    {"process_max_fds", GAUGE, "How many descriptors may be open.", USAGE(fds_max)},
    {"mcastd_alarm", GAUGE, "1 while an alarm is on; cluster is empty for an alarm that is not of "
     "one cluster.", .write = write_alarms},
    {"mcastd_vnis", GAUGE, "VNIs by state: free, live (in use by a job), held (quarantined "
     "after it), or quarantined (suspect: jobs that the ledger does not know may use them).", LABEL("state", "free"),
     STATUS(vnis_free)},
    {LABEL("state", "live"), STATUS(vnis_live)},
    {LABEL("state", "held"), STATUS(vnis_in_quarantine)},
    {LABEL("state", "quarantined"), STATUS(vnis_suspect)},
    {"mcastd_vnis_overdue", GAUGE, "Of those held: quarantined for longer than [vni] hold, because a node reports "
     "a CXI service that it cannot destroy; until it is clean, or fenced.", STATUS(vnis_overdue)},
    {"mcastd_vnis_pool", GAUGE, "VNIs in the configured pool.", STATUS(vnis_pool)},
    {"mcastd_vnis_other_partitions", GAUGE, "VNIs of the pool that the fabric manager has given to "
     "other partitions: they are given to no job.", STATUS(vnis_foreign)},
    {"mcastd_vnis_other_partitions_used", GAUGE, "VNIs in use, or quarantined, "
     "and that belong to other partitions now.", STATUS(vnis_foreign_used)},
    {"mcastd_vnis_shared", GAUGE, "Shared VNIs; they count as in use, or as quarantined when they were removed.",
     STATUS(vnis_shared)},
    {"mcastd_vnis_unconfirmed_total", COUNTER, "VNIs given back when [vni] hold was over, although "
     "not all nodes of the job had reported that its services are destroyed; since the start.",
     STATUS(vnis_unconfirmed)},
    {"mcastd_vnis_held_most", GAUGE, "Of those held: the most that are quarantined after jobs of one user.",
     STATUS(vnis_held_most)},
    {"mcastd_reserves_over_share_total", COUNTER, "Reserves that got none of what is free, because "
     "released jobs of their user hold more than three times that, and more than a sixteenth of the "
     "pool; since the start.", LABEL("pool", "vnis"), STATUS(vnis_refused)},
    {LABEL("pool", "partition_keys"), STATUS(pkeys_refused)},
    {"mcastd_partition_keys", GAUGE, "Partition keys by state: free, or taken: in use by a "
     "job, or quarantined after it.", LABEL("state", "free"), STATUS(pkeys_free)},
    {LABEL("state", "taken"), STATUS(pkeys_taken)},
    {"mcastd_partition_keys_pool", GAUGE, "Partition keys in the configured pool.",
     STATUS(pkeys_pool)},
    {"mcastd_partition_keys_held_most", GAUGE, "Of those taken: the most that are quarantined "
     "after jobs of one user.", STATUS(pkeys_held_most)},
    {"mcastd_nodes_lingering", GAUGE, "Nodes that report CXI services of a job that cannot be "
     "destroyed, counted for each job.", STATUS(nodes_lingering)},
    {"mcastd_traffic_octets_total", COUNTER, "Octets that NICs counted while jobs were on their "
     "nodes, as nodes tell it when the job has ended there; since the start, as the next four.",
     LABEL("direction", "sent"), STATUS(traffic.amounts[TRAFFIC_TX_OCTETS])},
    {LABEL("direction", "received"), STATUS(traffic.amounts[TRAFFIC_RX_OCTETS])},
    {"mcastd_traffic_packets_total", COUNTER, "The same of packets.", LABEL("direction", "sent"),
     STATUS(traffic.amounts[TRAFFIC_TX_PACKETS])},
    {LABEL("direction", "received"), STATUS(traffic.amounts[TRAFFIC_RX_PACKETS])},
    {"mcastd_traffic_paused_cycles_total", COUNTER, "For how long NICs were paused meanwhile, in "
     "cycles of their clocks.", STATUS(traffic.amounts[TRAFFIC_PAUSED])},
    {"mcastd_traffic_reports_total", COUNTER, "Reports of nodes that told it.",
     STATUS(traffic.reports)},
    {"mcastd_traffic_unclear_total", COUNTER, "NICs of which they did not, because a counter went "
     "back.", STATUS(traffic.unclear)},
    {"mcastd_addresses_limit", GAUGE, "Multicast addresses of the fabric, as configured; 0: no "
     "limit known.", STATUS(addresses_total)},
    {"mcastd_addresses_reserved", GAUGE, "Multicast addresses requested and not known to be given "
     "back.", STATUS(use.addresses)},
    {"mcastd_addresses_per_job", GAUGE, "Multicast addresses that one eligible job requests; 0: "
     "none.", STATUS(addresses_per_job)},
    {"mcastd_jobs", GAUGE, "Reservations by state.", LABEL("state", "active"), STATUS(use.jobs_active)},
    {LABEL("state", "releasing"), STATUS(use.jobs_releasing)},
    {"mcastd_jobs_with_addresses", GAUGE, "Active jobs that have multicast addresses.",
     STATUS(use.jobs_reserved)},
    {"mcastd_events_total", COUNTER, "Events since the ledger was made: the number of the newest.",
     STATUS(last_seq)},
    {"mcastd_events_kept", GAUGE, "Events that subscribers can request again.", READ(events_kept)},
    {"mcastd_cluster_jobs", GAUGE, "Reservations of a cluster by state.", LABEL("state", "active"),
     CLUSTER(use.jobs_active)},
    {LABEL("state", "releasing"), CLUSTER(use.jobs_releasing)},
    {"mcastd_cluster_jobs_with_addresses", GAUGE, "Active jobs of a cluster that have multicast "
     "addresses.", CLUSTER(use.jobs_reserved)},
    {"mcastd_cluster_addresses_reserved", GAUGE, "Multicast addresses that a cluster has requested "
     "and not given back.", CLUSTER(use.addresses)},
    {"mcastd_cluster_addresses_budget", GAUGE, "Multicast addresses that a cluster may hold; 0: no "
     "limit of its own.", CLUSTER(budget)},
    {"mcastd_cluster_releases_pending", GAUGE, "Reservations of a cluster that are released and "
     "still exist at the fabric manager.", CLUSTER(use.releases)},
    {"mcastd_cluster_job_events_total", COUNTER, "Events about jobs of a cluster since the start: "
     "reserved, with addresses or without; why without: denied, timeout, unavailable; addresses "
     "lost; released; found and adopted; services that cannot be destroyed.", .write =
     write_outcomes},
    {"mcastd_cluster_synced_timestamp_seconds", GAUGE, "When the resource manager of a cluster "
     "last reported which jobs are active, Unix time.", CLUSTER(synced_ms)},
    {"mcastd_cluster_listed_timestamp_seconds", GAUGE, "When the list_command of a cluster last "
     "gave a whole list of its active jobs, Unix time.", POLLED(jobpoll_ms)},
    {"mcastd_cluster_list_failures_total", COUNTER, "How often the list_command of a cluster "
     "failed since the start; no job is released then.", POLLED(jobpoll_failures)},
    {"mcastd_cluster_list_failing", GAUGE, "1 when the list_command of a cluster failed the last "
     "time.", POLLED(jobpoll_error)},
    {"mcastd_cluster_neighbour_dangerous", GAUGE, "1 while a reservation of another owner at the "
     "fabric manager has a name whose clean-up could delete this cluster's reservations.",
     CLUSTER(name_conflict)},
    {"mcastd_fabric_manager_configured", GAUGE, "1 when a fabric manager is configured; without "
     "one the link stays down.", READ(fm_configured)},
    {"mcastd_fabric_manager_link", GAUGE, "1 for the state of the link.", .write = write_link},
    {"mcastd_fabric_manager_link_since_timestamp_seconds", GAUGE, "Since when the link is up, or "
     "is not, Unix time.", STATUS(link_since_ms)},
    {"mcastd_fabric_manager_link_losses_total", COUNTER, "How often the link was up and went down.",
     STATUS(link_losses)},
    {"mcastd_fabric_manager_reserve_wait_seconds", GAUGE, "How long at most a job that starts now, "
     "alone, waits for the fabric manager ([fm] reserve_timeout).", STATUS(reserve_wait_ms)},
    {"mcastd_fabric_manager_url", GAUGE, "1 for the URL that is in use, or to be tried next.",
     .write = write_urls},
    {"mcastd_fabric_manager_listed_timestamp_seconds", GAUGE, "When the whole list of the fabric "
     "manager was last compared with the ledger, Unix time.", STATUS(link_listed_ms)},
    {"mcastd_fabric_manager_strays", GAUGE, "Objects at the fabric manager under names of ours "
     "that no job of ours owns: deleted when seen again after a grace period.", STATUS(strays)},
    {"mcastd_inventory_checked_timestamp_seconds", GAUGE, "When the inventory was last known to be "
     "as it is at the fabric manager, Unix time: time() minus it is its age.",
     ENGINE(inventory.checked_ms)},
    {"mcastd_inventory_version", GAUGE, "Counts the changes of the inventory since the start; 0: "
     "nothing was read yet.", ENGINE(inventory.version)},
    {"mcastd_inventory_reads_total", COUNTER, "Times that the fabric manager was asked for it, by "
     "outcome.", LABEL("outcome", "done"), ENGINE(inventory.reads_done)},
    {LABEL("outcome", "failed"), ENGINE(inventory.reads_failed)},
    {"mcastd_inventory_documents_total", COUNTER, "Documents of it that were read.",
     ENGINE(inventory.documents)},
    {"mcastd_inventory_read_duration_seconds", GAUGE, "How long it took to read what is in force.",
     DURATION(counters.inventory.took_us)},
    {"mcastd_inventory_worker_seconds", GAUGE, "Processor time of a "
     "worker thread for that, to decode, compare and index it.", DURATION(counters.inventory.worker_us)},
    {"mcastd_inventory_memory_bytes", GAUGE, "What is kept of it.", ENGINE(inventory.memory)},
    {"mcastd_inventory_switches", GAUGE, "Switches of the fabric.", ENGINE(fabric_parts.switches)},
    {"mcastd_inventory_switches_down", GAUGE, "Switches of the fabric that are down.",
     ENGINE(fabric_parts.switches_down)},
    {"mcastd_inventory_edge_ports", GAUGE, "Ports of switches that are a NIC's place.",
     ENGINE(fabric_parts.edge_ports)},
    {"mcastd_inventory_edge_ports_down", GAUGE, "Those that are down.",
     ENGINE(fabric_parts.edge_ports_down)},
    {"mcastd_inventory_cables", GAUGE, "Cables between switches.", ENGINE(fabric_parts.cables)},
    {"mcastd_inventory_cables_down", GAUGE, "Cables between switches that are down.",
     ENGINE(fabric_parts.cables_down)},
    {"mcastd_fabric_manager_calls_total", COUNTER, "Calls of the fabric manager that ended, by "
     "kind and outcome; a list is one call, however many pages it has.", .write = write_calls},
    {"mcastd_fabric_manager_call_duration_seconds", HISTOGRAM, "How long calls of the fabric "
     "manager took, by kind, with any outcome.", .write = write_call_times},
    {"mcastd_fabric_manager_logins_total", COUNTER, "Logins that succeeded: to bring the link up, "
     "or to renew one early or for a call that was refused.", LABEL("reason", "link"),
     ENGINE(fabric.logins)},
    {LABEL("reason", "renewal"), ENGINE(fabric.renewals)},
    {"mcastd_fabric_manager_login_failures_total", COUNTER, "Logins that failed: a file that "
     "cannot be read, a token endpoint that does not answer or refuses.",
     ENGINE(fabric.login_failures)},
    {"mcastd_fabric_manager_login_duration_seconds", HISTOGRAM, "How long logins to bring the link "
     "up took.", .write = write_login_times},
    {"mcastd_fabric_manager_login_timestamp_seconds", GAUGE, "When the login in force was "
     "obtained, Unix time: time() minus it is its age.", ENGINE(fabric.login_since_ms)},
    {"mcastd_fabric_manager_login_expires_timestamp_seconds", GAUGE, "When the login in force ends "
     "unless it is renewed, Unix time.", ENGINE(fabric.login_expires_ms)},
    {"mcastd_fabric_manager_clock_skew_seconds", GAUGE, "The fabric manager's clock less ours, by "
     "its Date header, to half a second.", .write = write_clock_skew},
    {"mcastd_fabric_manager_calls_queued", GAUGE, "Calls that wait in the queue, by kind.",
     LABEL("kind", "reserve"), STATUS(calls_queued_reserve)},
    {LABEL("kind", "check"), STATUS(calls_queued_check)},
    {LABEL("kind", "release"), STATUS(calls_queued_release)},
    {LABEL("kind", "cleanup"), STATUS(calls_queued_cleanup)},
    {"mcastd_fabric_manager_calls_under_way", GAUGE, "Calls that wait for an answer.",
     STATUS(calls_in_flight)},
    {"mcastd_fabric_manager_releases_pending", GAUGE, "Reservations that are released and still "
     "exist at the fabric manager.", STATUS(use.releases)},
    {"mcastd_cleanups_pending", GAUGE, "Steps whose trees are still to be removed, as clients with "
     "tokens requested.", STATUS(cleanups.pending)},
    {"mcastd_cleanups_total", COUNTER, "Steps since the start whose trees were removed, or could "
     "not be removed in time: those stay until their job ends.", LABEL("outcome", "done"),
     STATUS(cleanups.done)},
    {LABEL("outcome", "given-up"), STATUS(cleanups.given_up)},
    {"mcastd_fabric_manager_connections_total", COUNTER, "Connections opened to the fabric "
     "manager.", ENGINE(fabric.connections)},
    {"mcastd_fabric_manager_received_bytes_total", COUNTER, "Bytes received from the fabric "
     "manager.", ENGINE(fabric.bytes_in)},
    {"mcastd_fabric_manager_sent_bytes_total", COUNTER, "Bytes sent to the fabric manager.",
     ENGINE(fabric.bytes_out)},
    {"mcastd_fabric_manager_tls_errors_total", COUNTER, "Connections to the fabric manager or its "
     "token endpoint that failed because of TLS.", ENGINE(fabric.tls_errors)},
    {"mcastd_commits_total", COUNTER, "Commits that succeeded.", ENGINE(commits)},
    {"mcastd_commit_failures_total", COUNTER, "Attempts to commit that failed; each batch is tried "
     "again every second.", ENGINE(commit_failures)},
    {"mcastd_commit_duration_seconds", HISTOGRAM, "How long commits that succeeded took.",
     ENGINE(commit_times)},
    {"mcastd_commit_records", HISTOGRAM, "Records in one commit: many when many requests share it.",
     ENGINE(commit_sizes)},
    {"mcastd_records_unsaved", GAUGE, "Records that are not saved yet.", ENGINE(unsaved)},
    {"mcastd_storage_failing", GAUGE, "1 while nothing can be saved, so that changes are refused.",
     ENGINE(storage_failing)},
    {"mcastd_http_connections", GAUGE, "Open connections, by listener.", LABEL("door", "unix"),
     HTTP(traffic.open[LISTENER_UNIX])},
    {LABEL("door", "tcp"), HTTP(traffic.open[LISTENER_TCP])},
    {LABEL("door", "front"), HTTP(traffic.open[LISTENER_FRONT])},
    {"mcastd_http_connections_max", GAUGE, "Connections above this are refused.", HTTP(quota.max)},
    {"mcastd_http_connections_total", COUNTER, "Connections accepted, by listener.",
     LABEL("door", "unix"), HTTP(traffic.accepted[LISTENER_UNIX])},
    {LABEL("door", "tcp"), HTTP(traffic.accepted[LISTENER_TCP])},
    {LABEL("door", "front"), HTTP(traffic.accepted[LISTENER_FRONT])},
    {"mcastd_http_connections_refused_total", COUNTER, "Connections refused or closed with 503: a "
     "manager's above the limit; above the share of users without a role; idle or unfinished and "
     "displaced by a new one; a request's head that was too slow.",
     LABEL("reason", "limit"), HTTP(traffic.refused[REFUSED_LIMIT])},
    {LABEL("reason", "share"), HTTP(traffic.refused[REFUSED_SHARE])},
    {LABEL("reason", "displaced"), HTTP(traffic.refused[REFUSED_DISPLACED])},
    {LABEL("reason", "slow"), HTTP(traffic.refused[REFUSED_SLOW])},
    {"mcastd_http_connections_waiting", GAUGE, "TCP connections that wait for their turn: accepted, or in the listen queue of the kernel.",
     READ(tcp_waiting)},
    {"mcastd_event_subscribers", GAUGE, "Open event streams.", HTTP(traffic.subscribers)},
    {"mcastd_http_requests_under_way", GAUGE, "Requests that are not answered yet.", HTTP(owed)},
    {"mcastd_munge_credentials_waiting", GAUGE, "MUNGE credentials that wait for munged.",
     READ(munge_waiting)},
    {"mcastd_node_names_waiting", GAUGE, "Requests of nodes that wait for a name server.",
     READ(names_waiting)},
    {"mcastd_http_body_bytes", GAUGE, "Memory that long request bodies take, together.",
     HTTP(body_bytes)},
    {"mcastd_http_requests_total", COUNTER, "Requests answered, by route, method and status.",
     .write = write_answers},
    {"mcastd_http_request_duration_seconds", HISTOGRAM, "From a request's head to its answer, by "
     "route; event streams, which have no end, are left out.", .write = write_times},
    {"mcastd_certificate_expires_timestamp_seconds", GAUGE, "When a certificate of the broker that "
     "is in use expires, Unix time.", LABEL("use", "server"), READ(certificate_ends_ms)},
    {LABEL("use", "fabric-manager"), ENGINE(fabric.certificate_ends_ms)},
};
/* clang-format on */

static void write_value(struct exposition *to, const struct family *family, const void *base,
                        const char *const *labels)
{
    const void *at = (const char *)base + family->offset;
    switch (family->type) {
    case VALUE_U32:
        exposition_count(to, *(const uint32_t *)at, labels);
        break;
    case VALUE_U64:
        exposition_count(to, *(const uint64_t *)at, labels);
        break;
    case VALUE_BOOL:
        exposition_count(to, *(const bool *)at, labels);
        break;
    case VALUE_TEXT:
        exposition_count(to, **(const char *const *)at != '\0', labels);
        break;
    case VALUE_MICROSECONDS:
        exposition_real(to, (double)*(const uint64_t *)at / 1e6, labels);
        break;
    case VALUE_TIME:
        exposition_time(to, *(const int64_t *)at, labels);
        break;
    case VALUE_HISTOGRAM:
        exposition_histogram(to, *(const struct histogram *const *)at, labels);
        break;
    }
}

static void write_clusters(struct exposition *to, const struct family *family,
                           const struct core *core)
{
    struct core_cluster_status cluster;
    for (uint32_t i = 0; core_cluster_status(core, i, &cluster); i++) {
        if (family->base == OF_CLUSTER || cluster.jobpoll)
            write_value(to, family, &cluster,
                        LABELS("cluster", cluster.name, family->label, family->word));
    }
}

void metrics_write(struct exposition *to, const struct readings *readings)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct family *family = &families[i];
        if (family->name)
            exposition_family(to, family->name, family->kind, family->help);
        if (family->write)
            family->write(to, readings);
        else if (family->base == OF_CLUSTER || family->base == OF_POLLED_CLUSTER)
            write_clusters(to, family, readings->core);
        else
            write_value(to, family,
                        family->base == OF_HTTP ? (const void *)readings->http : readings,
                        LABELS(family->label, family->word));
    }
}
