/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The commands of mcast-node, and what they have in common: options, exit codes. */

#include "node/node.h"
#include "node/services/variables.h"

/* What hooks rely on (docs/mcast-node.md). */
#define COMMAND_EXITS(X)                                                                           \
    X(DONE, 0, "Done; with --dry-run: it could be done. Of explain: the job fits.")                \
    X(REFUSED, 1,                                                                                  \
      "It failed: the NICs, the spool or the broker's trust in this node; what was half done is "  \
      "undone. Of prolog: the job must fail, and so would the next one here. Of explain: the job " \
      "does not get all that it wants.")                                                           \
    X(USAGE, 2, "Wrong usage or configuration; nothing was done.")                                 \
    X(NOT_FOUND, 3, "The broker knows no reservation of the job, or it is released already.")      \
    X(UNREACHABLE, 4,                                                                              \
      "The broker was needed and does not answer; nothing was done. Trying again may help.")       \
    X(BUSY, 5, "Services are left that could not be destroyed: drain the node.")                   \
    X(UNMET, 6,                                                                                    \
      "The job cannot have here what it is to have, which is no fault of the node: it must fail, " \
      "and no other. What was half done is undone.")                                               \
    X(IN_USE, 7,                                                                                   \
      "Services are left that are in use, and their owner has another job here: do not drain the " \
      "node for that; the end of his other jobs tries again, and so does tend.")

enum command_exit {
#define COMMAND_EXIT_(name, value, when) COMMAND_##name = (value),
    COMMAND_EXITS(COMMAND_EXIT_) COMMAND_GO_ON = -1 /* no end yet */
#undef COMMAND_EXIT_
};

struct command;

/* What the command line says; NULL, 0 or false: nothing. */
struct command_options {
    const struct command *command;
    const char *config, *url, *cluster, *node; /* of every command */
    const char *job_text, *reservation, *launch, *nodes, *limits, *users, *file;
    char job[JOB_ID_MAX + 1]; /* job_text in the plain form: Flux's hooks write it with U+0192 */
    enum variables_format format;
    uint32_t cores;
    uint32_t user, restart; /* UINT32_MAX: not given */
    int64_t busy_ms, broker_ms; /* --retry-busy, --patience; negative: not given */
    bool dry_run, inherit, clear, all, max, json;
};

/* Whether the notes are read before the command runs; with --dry-run nothing is written. */
enum command_spool { SPOOL_IGNORED, SPOOL_READ, SPOOL_WRITTEN };

struct command {
    const char *name;
    const char *summary; /* one line for `mcast-node --help` */
    const char *usage;   /* all of `mcast-node NAME --help`, before the common options */
    const char *letters; /* its own options (the table of command.c); "j!": one that is required */
    enum command_spool spool;
    int (*run)(struct node *node, const struct command_options *options); /* an exit code */
};

extern const struct command command_prolog, command_env, command_epilog, command_housekeeping,
    command_tend, command_clean, command_boot, command_list, command_explain, command_share;

/* The common options as --help shows them. */
extern const char command_common_usage[];

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
