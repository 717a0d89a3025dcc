/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/plan/plan.h"
#include "cli/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 4096, PLOT_TIMEOUT_MS = 60000 };

static void write_use(FILE *script, const struct planned *planned)
{
    const struct plan_outcome *o = &planned->grid.outcomes[planned->chosen];
    const double step = (double)(o->end_ms - o->begin_ms) / 1000 / PLAN_CURVE_POINTS;
    fputs("$use << END\n", script);
    for (size_t i = 0; i < PLAN_CURVE_POINTS; i++)
        fprintf(script, "%.0f %u %u %u\n", (double)o->begin_ms / 1000 + step * (double)i,
                o->curve[i].addresses, o->curve[i].vnis, o->curve[i].quarantined);
    fputs("END\n", script);
    fprintf(script,
            "set terminal svg size 900,640 font 'sans,12' background 'white'\n"
            "set output 'use.svg'\n"
            "set multiplot layout 2,1\n"
            "set xdata time\nset timefmt '%%s'\nset format x \"%%m-%%d\\n%%Y\"\nset grid\nset "
            "lmargin 8\n"
            "set yrange [0:*]\nset key outside top center horizontal\n"
            "set title 'min\\_nodes %u, %u addresses per job'\n"
            "plot %u title 'addresses of the fabric' lc 'gray40' dt 2, "
            "$use using 1:2 with steps lc rgb '#1a5fb4' title 'addresses in use'\n"
            "unset title\n"
            "plot $use using 1:3 with steps lc rgb '#1a5fb4' title 'VNIs of running jobs', "
            "$use using 1:4 with steps lc rgb '#c64600' title 'VNIs quarantined'\n"
            "unset multiplot\n",
            o->setting.min_nodes, o->addresses, planned->machine.total_addresses);
}

/* Of each minimum size a line: the share of jobs that get none, by how many each gets. Quarantine
 * changes nothing of it. */
static void write_denied(FILE *script, const struct planned *planned)
{
    const struct plan_grid *grid = &planned->grid;
    const char *separator = "plot ";
    fputs("$denied << END\n", script);
    for (size_t i = 0; i < grid->count; i++) {
        const struct plan_outcome *o = &grid->outcomes[i];
        const size_t eligible = o->error.code ? 0 : plan_eligible(o);
        if (eligible > 0)
            fprintf(script, "%u %u %.4f\n", o->setting.min_nodes, o->addresses,
                    100.0 * (double)plan_unserved(o) / (double)eligible);
    }
    fputs("END\nreset\nset terminal svg size 900,420 font 'sans,12' background 'white'\n"
          "set output 'denied.svg'\nset grid\nset yrange [0:*]\n"
          "set key outside right center vertical title 'min\\_nodes'\n"
          "set xlabel 'addresses of a job'\nset ylabel '% of eligible jobs without addresses'\n",
          script);
    for (size_t i = 0; i < grid->count; i++) {
        bool before = false;
        for (size_t j = 0; j < i; j++)
            before |= grid->outcomes[j].setting.min_nodes == grid->outcomes[i].setting.min_nodes;
        if (before)
            continue;
        fprintf(script,
                "%s$denied using ($1 == %u ? $2 : NaN):3 smooth unique with linespoints title '%u'",
                separator, grid->outcomes[i].setting.min_nodes,
                grid->outcomes[i].setting.min_nodes);
        separator = ", ";
    }
    fputs("\n", script);
}

int planned_plot(const struct planned *planned, const char *folder)
{
    static const char *const argv[] = {"gnuplot", "-d", "-", NULL}; /* -d: none of the user's own */
    char output[OUTPUT_SIZE], *text = NULL;
    size_t length = 0;
    /* Names of files are fixed, so that none has to be quoted in gnuplot's language. */
    if ((mkdir(folder, 0777) < 0 && errno != EEXIST) || chdir(folder) < 0) {
        fprintf(stderr, "mcastctl: --plots %s: %s\n", folder, strerror(errno));
        return MCAST_EXIT_REFUSED;
    }
    FILE *script = memory_must(open_memstream(&text, &length));
    write_use(script, planned);
    write_denied(script, planned);
    memory_must(fclose(script) == 0 ? text : NULL);
    const int status = program_run_for(PLOT_TIMEOUT_MS, argv, text, output, sizeof output);
    free(text);
    if (status == 0)
        return MCAST_EXIT_OK;
    if (status == PROGRAM_NOT_FOUND)
        fputs("mcastctl: --plots needs gnuplot, which is not installed: on Debian apt-get install "
              "gnuplot-nox, then run this again\n",
              stderr);
    else
        fprintf(stderr, "mcastctl: --plots %s: gnuplot failed: %s\n", folder, output);
    return MCAST_EXIT_REFUSED;
}
