/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the hooks add to a real resource manager's run of a program, beside hooks that do nothing,
 * in turns (G28): measured by programs of the system tests, which have such resource managers. */

enum { COMMAND_SIZE = 512, LINE_SIZE = 512 };

static const struct manager {
    struct report_goal goal;
    const char *noop, *ours, *missing;
} slurm = {{.id = "G28",
            .what = "what the hooks add to srun on one node, ms",
            .sense = REPORT_AT_MOST,
            .limit = 15},
           "srun on one node, hooks that do nothing",
           "srun on one node, our hooks, TLS, MUNGE, documents",
           "there is no slurmctld, neither in /usr nor in MCAST_SLURM_PREFIX, or this is not root"},
  flux = {{.id = "G28f",
           .what = "what the hooks add to flux run, ms",
           .sense = REPORT_AT_MOST,
           .limit = 10},
          "flux run, hooks that do nothing",
          "flux run, our hooks, the broker on the same host",
          "FLUX_PREFIX names no installation of flux-core"};

/* Reads the lines that tell of a round; the others are shown when it fails. */
static int measure(const struct bench *bench, const struct manager *manager, const char *command)
{
    static const char form[] = "%lf ms with no-op hooks, %lf ms with ours";
    char line[LINE_SIZE], said[LINE_SIZE] = "";
    FILE *lines = popen(command, "re");
    size_t rounds = 0;
    double noop, ours;

    while (lines && fgets(line, sizeof line, lines)) {
        const char *colon = strstr(line, " node: ");

        if (!colon || sscanf(colon + strlen(" node: "), form, &noop, &ours) != 2) {
            strcpy(said, line);
            continue;
        }
        report_goal(bench->report, &manager->goal, ours - noop);
        report_figure(bench->report, manager->noop, "ms", noop);
        report_figure(bench->report, manager->ours, "ms", ours);
        rounds++;
    }
    if (lines && pclose(lines) == 0 && rounds > 0)
        return 0;
    fprintf(stderr, "%s: after %zu rounds: %s\n", command, rounds, said);
    return -1;
}

static bool has(const char *folder, const char *program)
{
    char path[COMMAND_SIZE];

    if (!folder)
        return false;
    snprintf(path, sizeof path, "%s/%s", folder, program);
    return access(path, X_OK) == 0;
}

/* As the tests choose it. */
static bool slurm_is_there(void)
{
    const char *chosen = getenv("MCAST_SLURM_PREFIX");

    return geteuid() == 0 &&
           (chosen ? has(chosen, "sbin/slurmctld")
                   : has("/usr/sbin", "slurmctld") || has("/usr/local/sbin", "slurmctld"));
}

int part_run(const struct bench *bench)
{
    char command[COMMAND_SIZE];
    int result = 0;

    printf("G28, real resource managers\n");
    fflush(stdout);
    snprintf(command, sizeof command, "%s/../tests/slurm/slurm_bench cost__on_one_node 2>&1",
             bench->programs);
    if (slurm_is_there())
        result = measure(bench, &slurm, command);
    else
        report_skipped(bench->report, "G28 (Slurm)", slurm.missing);
    snprintf(command, sizeof command, "bash tests/system/flux/cost.sh %s/.. 2>&1", bench->programs);
    if (!has(getenv("FLUX_PREFIX"), "bin/flux"))
        report_skipped(bench->report, "G28f (Flux)", flux.missing);
    else if (result == 0)
        result = measure(bench, &flux, command);
    return result;
}
