#include "broker/http/metrics/metrics.h"

#include <string.h>

/* The link to the fabric manager, and what is asked of it. */

static void write_link(struct exposition *to, const struct readings *readings)
{
    const struct core_status *status = &readings->status;
    const struct core_config *config = core_config_of(readings->core);
    exposition_family(to, "mcastd_fabric_manager_configured", METRIC_GAUGE,
                      "1 when there is one; without it the link is down and that is as wanted.");
    exposition_count(to, config->fm_present, NULL);
    exposition_family(to, "mcastd_fabric_manager_link", METRIC_GAUGE,
                      "1 for the state that the link is in.");
    for (int state = LINK_DOWN; state <= LINK_UP; state++)
        exposition_count(to, (int)status->link == state,
                         LABELS("state", link_state_word((enum link_state)state)));
    exposition_family(to, "mcastd_fabric_manager_link_since_timestamp_seconds", METRIC_GAUGE,
                      "Since when the link is up, or is not, Unix time.");
    exposition_time(to, status->link_since_ms, NULL);
    exposition_family(to, "mcastd_fabric_manager_link_losses_total", METRIC_COUNTER,
                      "How often the link was up and went down.");
    exposition_count(to, status->link_losses, NULL);
    exposition_family(to, "mcastd_fabric_manager_url", METRIC_GAUGE,
                      "1 for the URL that is in use, or to be tried next.");
    for (uint32_t i = 0; i < config->fm_url_count; i++)
        exposition_count(to, strcmp(config->fm_urls[i], status->link_url) == 0,
                         LABELS("url", config->fm_urls[i]));
    exposition_family(to, "mcastd_fabric_manager_listed_timestamp_seconds", METRIC_GAUGE,
                      "When it was last compared whole with the ledger, Unix time.");
    exposition_time(to, status->link_listed_ms, NULL);
    exposition_family(to, "mcastd_fabric_manager_strays", METRIC_GAUGE,
                      "Objects there under our names that no job of ours owns: deleted when seen "
                      "again after a grace period.");
    exposition_count(to, status->strays, NULL);
}

/* Whole lists are counted where no kind of call is. */
static const char *kind_word(int kind)
{
    return kind == FMCALL_NONE ? "list" : fmcall_kind_word((enum fmcall_kind)kind);
}

static void write_calls(struct exposition *to, const struct readings *readings)
{
    const struct fabric_counters *fm = readings->counters.fm;
    exposition_family(to, "mcastd_fabric_manager_calls_total", METRIC_COUNTER,
                      "Calls of the fabric manager that ended, by kind and by what came of them; a "
                      "list is one call, however many pages it has.");
    for (int kind = FMCALL_NONE; kind < FABRIC_KINDS; kind++)
        for (int outcome = FM_OK; outcome < FABRIC_OUTCOMES; outcome++)
            exposition_count(to, fm->calls[kind][outcome],
                             LABELS("kind", kind_word(kind), "outcome",
                                    fmcall_outcome_word((enum fmcall_outcome)outcome)));
    exposition_family(to, "mcastd_fabric_manager_call_duration_seconds", METRIC_HISTOGRAM,
                      "How long calls of the fabric manager took, by kind, whatever came of them.");
    for (int kind = FMCALL_NONE; kind < FABRIC_KINDS; kind++)
        exposition_histogram(to, &fm->times[kind], LABELS("kind", kind_word(kind)));
}

static void write_logins(struct exposition *to, const struct readings *readings)
{
    const struct fmapi_counters *transport = &readings->counters.fabric;
    exposition_family(to, "mcastd_fabric_manager_logins_total", METRIC_COUNTER,
                      "Logins that succeeded: to bring the link up, or to renew one early or for a "
                      "call that was refused.");
    exposition_count(to, transport->logins, LABELS("reason", "link"));
    exposition_count(to, transport->renewals, LABELS("reason", "renewal"));
    exposition_family(to, "mcastd_fabric_manager_login_failures_total", METRIC_COUNTER,
                      "Logins that failed: a file that cannot be read, a token endpoint that does "
                      "not answer or says no.");
    exposition_count(to, transport->login_failures, NULL);
    exposition_family(to, "mcastd_fabric_manager_login_duration_seconds", METRIC_HISTOGRAM,
                      "How long logins to bring the link up took.");
    exposition_histogram(to, &readings->counters.fm->login_times, NULL);
    exposition_family(to, "mcastd_fabric_manager_login_timestamp_seconds", METRIC_GAUGE,
                      "When the login in force was got, Unix time: time() minus it is its age.");
    exposition_time(to, transport->login_since_ms, NULL);
    exposition_family(to, "mcastd_fabric_manager_login_expires_timestamp_seconds", METRIC_GAUGE,
                      "When the login in force ends unless it is renewed, Unix time.");
    exposition_time(to, transport->login_expires_ms, NULL);
    exposition_family(
        to, "mcastd_fabric_manager_clock_skew_seconds", METRIC_GAUGE,
        "The fabric manager's clock less ours, by its Date header, to half a second.");
    if (core_config_of(readings->core)->fm_present && transport->date_skew_ms != INT64_MIN)
        exposition_real(to, (double)transport->date_skew_ms / 1e3, NULL);
}

static void write_queues(struct exposition *to, const struct core_status *status)
{
    exposition_family(to, "mcastd_fabric_manager_calls_queued", METRIC_GAUGE,
                      "Calls that wait for their turn, by kind.");
    exposition_count(to, status->calls_queued_reserve, LABELS("kind", "reserve"));
    exposition_count(to, status->calls_queued_check, LABELS("kind", "check"));
    exposition_count(to, status->calls_queued_release, LABELS("kind", "release"));
    exposition_count(to, status->calls_queued_cleanup, LABELS("kind", "cleanup"));
    exposition_family(to, "mcastd_fabric_manager_calls_under_way", METRIC_GAUGE,
                      "Calls that wait for an answer.");
    exposition_count(to, status->calls_under_way, NULL);
    exposition_family(to, "mcastd_fabric_manager_releases_pending", METRIC_GAUGE,
                      "Reservations that the fabric manager has still to give up.");
    exposition_count(to, status->releases_pending, NULL);
}

static void write_cleanups(struct exposition *to, const struct core_status *status)
{
    exposition_family(to, "mcastd_cleanups_pending", METRIC_GAUGE,
                      "Steps whose trees are still to be removed, as bearers of tokens asked.");
    exposition_count(to, status->cleanups_pending, NULL);
    exposition_family(
        to, "mcastd_cleanups_total", METRIC_COUNTER,
        "Steps whose trees were removed since the start, or were not in the time that "
        "there was: those stay until their job ends.");
    exposition_count(to, status->cleanups_done, LABELS("outcome", "done"));
    exposition_count(to, status->cleanups_given_up, LABELS("outcome", "given-up"));
}

static void write_transport(struct exposition *to, const struct fmapi_counters *transport)
{
    exposition_family(to, "mcastd_fabric_manager_connections_total", METRIC_COUNTER,
                      "Connections opened to the fabric manager.");
    exposition_count(to, transport->connections, NULL);
    exposition_family(to, "mcastd_fabric_manager_received_bytes_total", METRIC_COUNTER,
                      "Bytes received from the fabric manager.");
    exposition_count(to, transport->bytes_in, NULL);
    exposition_family(to, "mcastd_fabric_manager_sent_bytes_total", METRIC_COUNTER,
                      "Bytes sent to the fabric manager.");
    exposition_count(to, transport->bytes_out, NULL);
    exposition_family(
        to, "mcastd_fabric_manager_tls_errors_total", METRIC_COUNTER,
        "Connections to the fabric manager or its token endpoint that TLS failed for.");
    exposition_count(to, transport->tls_errors, NULL);
}

void metrics_fabric(struct exposition *to, const struct readings *readings)
{
    write_link(to, readings);
    write_calls(to, readings);
    write_logins(to, readings);
    write_queues(to, &readings->status);
    write_cleanups(to, &readings->status);
    write_transport(to, &readings->counters.fabric);
}
