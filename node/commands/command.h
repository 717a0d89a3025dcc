/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The commands of mcast-node, and what they have in common: options, exit codes. */

#include "base/text.h"
#include "node/node.h"
#include "node/services/variables.h"

/* What hooks rely on (docs/mcast-node.md, node/text/page-tail.man). */
enum command_exit {
    COMMAND_GO_ON = -1, /* no end yet */
    COMMAND_DONE,
    COMMAND_REFUSED, /* it failed, and what was half done is undone */
    COMMAND_USAGE,
    COMMAND_NOT_FOUND,   /* no such reservation, or it is released already */
    COMMAND_UNREACHABLE, /* the broker was needed and does not answer; nothing was done */
    COMMAND_BUSY,        /* services are left: drain the node */
    COMMAND_UNMET,       /* the job cannot have it here, which is no fault of the node */
    COMMAND_IN_USE,      /* services are left that another job of their owner may use */
};

struct command;

/* What the command line says; NULL, 0 or false: nothing. */
struct command_options {
    const struct command *command;
    const char *config, *url, *cluster, *node; /* of every command */
    const char *job_text, *reservation, *launch, *nodes, *limits, *users, *file, *reporter;
    char job[JOB_ID_MAX + 1]; /* job_text in the plain form: Flux's hooks write it with U+0192 */
    enum variables_format format;
    uint32_t cores;
    uint32_t user, restart;     /* UINT32_MAX: not given */
    int64_t busy_ms, broker_ms; /* --retry-busy, --patience; negative: not given */
    int64_t within_ms, over_ms; /* --report-within, --over; negative: not given */
    bool dry_run, inherit, clear, all, max, json, remembered, report, repeat;
    bool late; /* of epilog: what it waited for has ended, and the job may have begun anew */
};

/* Whether the notes are read before the command runs; with --dry-run nothing is written. */
enum command_spool { SPOOL_IGNORED, SPOOL_READ, SPOOL_WRITTEN };

struct command {
    const char *name;    /* and of the file in node/text with its --help */
    const char *summary; /* one line for `mcast-node --help` */
    const char *letters; /* its own options (the table of command.c); "j!": one that is required */
    enum command_spool spool;
    int (*run)(struct node *node, const struct command_options *options); /* an exit code */
};

extern const struct command command_prolog, command_env, command_epilog, command_housekeeping,
    command_tend, command_clean, command_boot, command_list, command_explain, command_share,
    command_inventory, command_traffic;

/* Reads command line and node.conf, runs the command, and releases the node; the exit code. --help
 * is answered here. */
int command_run(const struct command *command, int argc, char **argv);

/* Says what is wrong with the command line and how to learn more; COMMAND_USAGE. command may be
 * NULL; format NULL: getopt has said it. */
__attribute__((format(printf, 2, 3))) int command_misused(const struct command *command,
                                                          const char *format, ...);

/* Says it; COMMAND_REFUSED. */
int command_failed(const struct error *err);

/* The exit code that fits. */
int command_exit(const struct mcast_error *error);

/* The limits that a job wants (--limits) into node->settings, where those of every job are. What is
 * not accepted as it stands is said. */
void command_limits(struct node *node, const struct command_options *options);

/* Flushes standard output; COMMAND_REFUSED after a message when that fails, else rc. */
int command_finish(int rc);
