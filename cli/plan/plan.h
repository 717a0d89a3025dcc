/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"
#include "plan/grid.h"

/* What `mcastctl plan` shows of a plan that was made. */

enum { PLAN_WHY_SIZE = 1000 };

struct planned {
    const char *path; /* of the log */
    struct joblog log;
    struct plan_machine machine;
    const char *nodes_from; /* who says how many nodes there are */
    uint32_t log_nodes;     /* of the machine that the log is of */
    struct plan_grid grid;
    int chosen; /* -1: none */
    char why[PLAN_WHY_SIZE];
};

/* On standard error: the lines of the log that are wrong or cut. */
void planned_print_faults(const struct planned *planned);

/* Each prints all of it; an exit code. */
int planned_print(const struct planned *planned);
int planned_print_json(const struct planned *planned);

/* Draws use.svg (of the chosen setting) and denied.svg (of all) in a folder, which it makes, by
 * gnuplot. An exit code after a message. */
int planned_plot(const struct planned *planned, const char *folder);
