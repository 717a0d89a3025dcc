#include "broker/http/metrics/metrics.h"

/* VNIs, addresses, reservations and events: of the whole fabric, then of each cluster. */

static void write_pools(struct exposition *to, const struct core_status *status)
{
    exposition_family(to, "mcastd_vnis", METRIC_GAUGE,
                      "VNIs by what they are doing: free, live in a job, held back after it, or "
                      "quarantined, because jobs that the ledger does not know may use them.");
    exposition_count(to, status->vnis_free, LABELS("state", "free"));
    exposition_count(to, status->vnis_live, LABELS("state", "live"));
    exposition_count(to, status->vnis_held, LABELS("state", "held"));
    exposition_count(to, status->vnis_quarantined, LABELS("state", "quarantined"));
    exposition_family(to, "mcastd_vnis_overdue", METRIC_GAUGE,
                      "Of those held back: longer than [vni] hold, because a node has said that it "
                      "cannot destroy a service; until it is clean, or fenced.");
    exposition_count(to, status->vnis_overdue, NULL);
    exposition_family(to, "mcastd_vnis_pool", METRIC_GAUGE, "VNIs in the configured pool.");
    exposition_count(to, status->vnis_pool, NULL);
    exposition_family(to, "mcastd_vnis_unconfirmed_total", METRIC_COUNTER,
                      "VNIs given back when [vni] hold was over, although not all nodes of the job "
                      "had said that its services are gone; since the start.");
    exposition_count(to, status->vnis_unconfirmed, NULL);
    exposition_family(to, "mcastd_nodes_lingering", METRIC_GAUGE,
                      "Nodes on which services of a job will not go, counted for each job.");
    exposition_count(to, status->nodes_lingering, NULL);
    exposition_family(to, "mcastd_addresses_limit", METRIC_GAUGE,
                      "Multicast addresses of the fabric, as configured; 0: no limit known.");
    exposition_count(to, status->addresses_total, NULL);
    exposition_family(to, "mcastd_addresses_reserved", METRIC_GAUGE,
                      "Multicast addresses asked for and not known to be given back.");
    exposition_count(to, status->addresses_reserved, NULL);
    exposition_family(to, "mcastd_addresses_per_job", METRIC_GAUGE,
                      "Multicast addresses that one eligible job asks for; 0: none.");
    exposition_count(to, status->addresses_per_job, NULL);
    exposition_family(to, "mcastd_jobs", METRIC_GAUGE, "Reservations by state.");
    exposition_count(to, status->jobs_active, LABELS("state", "active"));
    exposition_count(to, status->jobs_releasing, LABELS("state", "releasing"));
    exposition_family(to, "mcastd_jobs_with_addresses", METRIC_GAUGE,
                      "Active jobs that have multicast addresses.");
    exposition_count(to, status->jobs_reserved, NULL);
}

static void write_events(struct exposition *to, const struct core_status *status)
{
    exposition_family(to, "mcastd_events_total", METRIC_COUNTER,
                      "Events since the ledger was made: the number of the newest.");
    exposition_count(to, status->last_seq, NULL);
    exposition_family(to, "mcastd_events_kept", METRIC_GAUGE,
                      "Events that subscribers can have replayed.");
    exposition_count(to, status->last_seq + 1 - status->first_seq, NULL);
}

/* What one family says of a cluster. */
typedef void cluster_fn(struct exposition *to, const struct core_cluster_status *cluster);

static void say_jobs(struct exposition *to, const struct core_cluster_status *cluster)
{
    exposition_count(to, cluster->jobs_active, LABELS("cluster", cluster->name, "state", "active"));
    exposition_count(to, cluster->jobs_releasing,
                     LABELS("cluster", cluster->name, "state", "releasing"));
}

static void say_reserved(struct exposition *to, const struct core_cluster_status *cluster)
{
    exposition_count(to, cluster->jobs_reserved, LABELS("cluster", cluster->name));
}

static void say_addresses(struct exposition *to, const struct core_cluster_status *cluster)
{
    exposition_count(to, cluster->addresses_reserved, LABELS("cluster", cluster->name));
}

static void say_budget(struct exposition *to, const struct core_cluster_status *cluster)
{
    exposition_count(to, cluster->budget, LABELS("cluster", cluster->name));
}

static void say_pending(struct exposition *to, const struct core_cluster_status *cluster)
{
    exposition_count(to, cluster->releases_pending, LABELS("cluster", cluster->name));
}

/* All of them, also those that never happened: rate() needs the zero to see the first one. */
static void say_outcomes(struct exposition *to, const struct core_cluster_status *cluster)
{
    for (int kind = EVENT_RESERVED; kind < EVENT_LINK_UP; kind++)
        exposition_count(to, cluster->told[kind],
                         LABELS("cluster", cluster->name, "outcome", event_kind_word(kind)));
    exposition_count(to, cluster->told[EVENT_LINGERING],
                     LABELS("cluster", cluster->name, "outcome", event_kind_word(EVENT_LINGERING)));
}

static void say_synced(struct exposition *to, const struct core_cluster_status *cluster)
{
    exposition_time(to, cluster->synced_ms, LABELS("cluster", cluster->name));
}

/* Where no list_command is, nothing can fail. */
static void say_listed(struct exposition *to, const struct core_cluster_status *cluster)
{
    if (cluster->rollcall)
        exposition_time(to, cluster->rollcall_ms, LABELS("cluster", cluster->name));
}

static void say_list_failures(struct exposition *to, const struct core_cluster_status *cluster)
{
    if (cluster->rollcall)
        exposition_count(to, cluster->rollcall_failures, LABELS("cluster", cluster->name));
}

static void say_list_failing(struct exposition *to, const struct core_cluster_status *cluster)
{
    if (cluster->rollcall)
        exposition_count(to, cluster->rollcall_error[0] != '\0', LABELS("cluster", cluster->name));
}

static void say_neighbour(struct exposition *to, const struct core_cluster_status *cluster)
{
    exposition_count(to, cluster->neighbour[0] != '\0', LABELS("cluster", cluster->name));
}

/* The format wants all samples of a family together. */
static void write_clusters(struct exposition *to, const struct core *core)
{
    static const struct {
        const char *name;
        enum exposition_kind kind;
        const char *help;
        cluster_fn *say;
    } families[] = {
        {"mcastd_cluster_jobs", METRIC_GAUGE, "Reservations of a cluster by state.", say_jobs},
        {"mcastd_cluster_jobs_with_addresses", METRIC_GAUGE,
         "Active jobs of a cluster that have multicast addresses.", say_reserved},
        {"mcastd_cluster_addresses_reserved", METRIC_GAUGE,
         "Multicast addresses that a cluster has asked for and not given back.", say_addresses},
        {"mcastd_cluster_addresses_budget", METRIC_GAUGE,
         "Multicast addresses that a cluster may hold; 0: no limit of its own.", say_budget},
        {"mcastd_cluster_releases_pending", METRIC_GAUGE,
         "Reservations of a cluster that the fabric manager has still to give up.", say_pending},
        {"mcastd_cluster_job_events_total", METRIC_COUNTER,
         "Events about jobs of a cluster since the start: reserved, with addresses or without; why "
         "without: denied, timeout, unavailable; addresses lost; released; found and adopted; "
         "services that will not go.",
         say_outcomes},
        {"mcastd_cluster_synced_timestamp_seconds", METRIC_GAUGE,
         "When the resource manager of a cluster last said which jobs are active, Unix time.",
         say_synced},
        {"mcastd_cluster_listed_timestamp_seconds", METRIC_GAUGE,
         "When the list_command of a cluster last gave a whole list of its active jobs, Unix time.",
         say_listed},
        {"mcastd_cluster_list_failures_total", METRIC_COUNTER,
         "How often the list_command of a cluster failed since the start; nothing is concluded "
         "then.",
         say_list_failures},
        {"mcastd_cluster_list_failing", METRIC_GAUGE,
         "1 when the list_command of a cluster failed the last time.", say_list_failing},
        {"mcastd_cluster_neighbour_dangerous", METRIC_GAUGE,
         "1 when another owner's name at the fabric manager is one whose clean-up could delete "
         "this cluster's reservations.",
         say_neighbour},
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct core_cluster_status cluster;
        exposition_family(to, families[i].name, families[i].kind, families[i].help);
        for (uint32_t index = 0; core_cluster_status(core, index, &cluster); index++)
            families[i].say(to, &cluster);
    }
}

void metrics_jobs(struct exposition *to, const struct readings *readings)
{
    write_pools(to, &readings->status);
    write_events(to, &readings->status);
    write_clusters(to, readings->core);
}
