/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"
#include "cli/plan/plan.h"
#include "cli/table.h"

#include <stdio.h>
#include <time.h>

enum { DURATION_SIZE = 32, DATE_SIZE = 32 };

void planned_print_faults(const struct planned *planned)
{
    const struct joblog *log = &planned->log;
    const char *what = log->format == JOBLOG_FLUX ? "job " : "";
    for (size_t i = 0; i < log->fault_count && i < JOBLOG_FAULTS_KEPT; i++) {
        const struct joblog_fault *fault = &log->faults[i];
        char where[JOBLOG_ID_SIZE] = "";
        if (fault->line > 0)
            snprintf(where, sizeof where, ":%s%zu", what, fault->line);
        fprintf(stderr, "mcastctl: %s%s: %s\n", planned->path, where, fault->words);
    }
    if (log->fault_count > JOBLOG_FAULTS_KEPT)
        fprintf(stderr, "mcastctl: %s: and %zu more that are wrong or cut\n", planned->path,
                log->fault_count - JOBLOG_FAULTS_KEPT);
}

/* ---- for people ---- */

static void write_date(char out[DATE_SIZE], int64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    out[0] = '\0';
    if (localtime_r(&seconds, &tm))
        (void)strftime(out, DATE_SIZE, "%Y-%m-%d", &tm);
}

static void print_log(const struct planned *planned)
{
    const struct joblog *log = &planned->log;
    const struct plan_machine *machine = &planned->machine;
    char from[DATE_SIZE], to[DATE_SIZE];
    write_date(from, log->events[0].time_ms);
    write_date(to, log->events[log->event_count - 1].time_ms);
    printf("%zu jobs (%s) from %s to %s", log->job_count, joblog_format_word(log->format), from,
           to);
    printf("; left out: %zu wrong or cut, %zu that never ran, or less than a second",
           log->fault_count, log->never_ran);
    if (log->steps > 0)
        printf(", %zu parts of jobs", log->steps);
    if (log->running > 0)
        printf("; %zu still ran and end with the log", log->running);
    printf("\n%u nodes (%s), %u multicast addresses, %u VNIs\n\n", machine->system_nodes,
           planned->nodes_from, machine->total_addresses, machine->pool.count);
}

static void add_row(struct table *table, const struct plan_outcome *o, bool chosen)
{
    char hold[DURATION_SIZE];
    duration_format(hold, sizeof hold, o->setting.hold_ms);
    table_row(table);
    table_cell(table, chosen ? "*" : NULL);
    table_cellf(table, "%u", o->setting.min_nodes);
    if (o->error.code) {
        table_cell(table, "-");
        table_cell(table, hold);
        return;
    }
    table_cellf(table, "%u", o->addresses);
    table_cell(table, hold);
    table_cellf(table, "%zu", plan_eligible(o));
    table_cellf(table, "%zu", o->fates[PLAN_DENIED]);
    table_cellf(table, "%zu", o->waited);
    table_cellf(table, "%zu", o->fates[PLAN_LATE]);
    table_cellf(table, "%.1f%%", o->node_ms > 0 ? 100 * o->served_node_ms / o->node_ms : 0);
    table_cellf(table, "%u", o->most.addresses);
    table_cellf(table, "%.0f", o->addresses_mean);
    table_cellf(table, "%u", o->most.vnis);
    table_cellf(table, "%.0f", o->vnis_mean);
    table_cellf(table, "%u", o->most.quarantined);
    table_cellf(table, "%zu", o->fates[PLAN_REFUSED]);
}

/* What to write into the configuration, and why. */
static void print_choice(const struct planned *planned)
{
    const struct plan_outcome *o = &planned->grid.outcomes[planned->chosen];
    char hold[DURATION_SIZE];
    duration_format(hold, sizeof hold, o->setting.hold_ms);
    printf("\nTake the setting marked *. %s\n\n", planned->why);
    printf("  [hwcoll]\n  min_nodes = %u\n  addresses_per_job = %u\n  total_addresses = %u\n"
           "  system_nodes = %u\n  [vni]\n"
           "  ; hold = reports where nodes report (the default); else hold = %s\n\n",
           o->setting.min_nodes, o->addresses, planned->machine.total_addresses,
           planned->machine.system_nodes, hold);
    printf(
        "Where nodes report that they are clean, read %s as the time that the slowest node of a\n"
        "job takes to report.\n",
        hold);
}

static int refuse(const struct planned *planned)
{
    if (planned->why[0])
        fprintf(stderr, "mcastctl: no setting serves this log: %s\n", planned->why);
    return MCAST_EXIT_REFUSED;
}

int planned_print(const struct planned *planned)
{
    print_log(planned);
    struct table *table =
        table_create("*,>MIN_NODES,>ADDRS,>HOLD,>ELIGIBLE,>DENIED,>WAITED,>LATE,>HOURS,"
                     ">ADDR_MAX,>ADDR_AVG,>VNI_MAX,>VNI_AVG,>QUAR,>NO_VNI");
    for (size_t i = 0; i < planned->grid.count; i++)
        add_row(table, &planned->grid.outcomes[i], (int)i == planned->chosen);
    const int code = table_print(table);
    for (size_t i = 0; i < planned->grid.count; i++) {
        const struct plan_outcome *o = &planned->grid.outcomes[i];
        if (o->error.code)
            fprintf(stderr, "mcastctl: min_nodes = %u: %s\n", o->setting.min_nodes, o->error.text);
    }
    if (planned->chosen < 0)
        return refuse(planned);
    print_choice(planned);
    return code == MCAST_EXIT_OK ? command_finish() : code;
}

/* ---- for programs ---- */

static json_t *ids_of(const struct joblog *log, const struct plan_outcome *o, enum plan_fate fate)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < log->job_count; i++) {
        if (o->fate[i] == fate)
            (void)json_array_append_new(ids, json_string(log->jobs[i].id));
    }
    return ids;
}

static json_t *outcome_json(const struct joblog *log, const struct plan_outcome *o)
{
    json_t *object = json_pack("{s:I, s:I}", "min_nodes", (json_int_t)o->setting.min_nodes,
                               "hold_ms", (json_int_t)o->setting.hold_ms);
    if (o->error.code) {
        (void)json_object_set_new(object, "impossible", json_string(o->error.text));
        return object;
    }
    json_t *rest = json_pack(
        "{s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:{s:f, s:f}, s:{s:I, s:f}, s:{s:I, s:f, "
        "s:I},"
        " s:o, s:o}",
        "addresses_per_job", (json_int_t)o->addresses, "jobs", "eligible",
        (json_int_t)plan_eligible(o), "served", (json_int_t)o->fates[PLAN_SERVED], "denied",
        (json_int_t)o->fates[PLAN_DENIED], "waited", (json_int_t)o->waited, "late",
        (json_int_t)o->fates[PLAN_LATE], "ineligible", (json_int_t)o->fates[PLAN_INELIGIBLE],
        "without_vnis", (json_int_t)o->fates[PLAN_REFUSED], "node_hours", "all", o->node_ms / 3.6e6,
        "served", o->served_node_ms / 3.6e6, "addresses", "peak", (json_int_t)o->most.addresses,
        "mean", o->addresses_mean, "vnis", "peak", (json_int_t)o->most.vnis, "mean", o->vnis_mean,
        "quarantined_peak", (json_int_t)o->most.quarantined, "denied_jobs",
        ids_of(log, o, PLAN_DENIED), "jobs_without_vnis", ids_of(log, o, PLAN_REFUSED));
    (void)json_object_update_new(object, rest);
    return object;
}

static json_t *log_json(const struct planned *planned)
{
    const struct joblog *log = &planned->log;
    json_t *faults = json_array();
    for (size_t i = 0; i < log->fault_count && i < JOBLOG_FAULTS_KEPT; i++)
        (void)json_array_append_new(faults,
                                    json_pack("{s:I, s:s}", "line", (json_int_t)log->faults[i].line,
                                              "reason", log->faults[i].words));
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "path", planned->path,
                     "format", joblog_format_word(log->format), "jobs", (json_int_t)log->job_count,
                     "from", (json_int_t)(log->events[0].time_ms / 1000), "to",
                     (json_int_t)(log->events[log->event_count - 1].time_ms / 1000), "wrong_or_cut",
                     (json_int_t)log->fault_count, "never_ran", (json_int_t)log->never_ran, "parts",
                     (json_int_t)log->steps, "running", (json_int_t)log->running, "faults", faults);
}

int planned_print_json(const struct planned *planned)
{
    const struct plan_machine *machine = &planned->machine;
    json_t *settings = json_array();
    for (size_t i = 0; i < planned->grid.count; i++)
        (void)json_array_append_new(settings,
                                    outcome_json(&planned->log, &planned->grid.outcomes[i]));
    json_t *all =
        json_pack("{s:o, s:{s:I, s:s, s:I, s:I, s:I, s:I}, s:o}", "log", log_json(planned),
                  "machine", "system_nodes", (json_int_t)machine->system_nodes, "system_nodes_from",
                  planned->nodes_from, "total_addresses", (json_int_t)machine->total_addresses,
                  "sharing", (json_int_t)machine->sharing, "vnis", (json_int_t)machine->pool.count,
                  "vnis_per_job", (json_int_t)machine->vnis_per_job, "settings", settings);
    if (planned->chosen >= 0)
        (void)json_object_set_new(
            all, "recommended",
            json_pack("{s:i, s:s}", "setting", planned->chosen, "reason", planned->why));
    const int code = command_print_object(all);
    return planned->chosen < 0 ? refuse(planned) : code;
}
