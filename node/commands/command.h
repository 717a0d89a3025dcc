/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_COMMANDS_COMMAND_H
#define MCAST_NODE_COMMANDS_COMMAND_H

/* The commands of mcast-node, and what they have in common: options, exit codes. */

#include "node/node.h"

#include <getopt.h>

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

struct command {
    const char *name;
    const char *summary; /* one line for `mcast-node --help` */
    const char *usage;   /* all of `mcast-node NAME --help`, before the common options */
    int (*run)(const struct command *command, struct node *node, int argc, char **argv);
};

extern const struct command command_prolog, command_env, command_epilog, command_housekeeping,
    command_tend, command_clean, command_boot, command_list, command_explain, command_share;

/* The common options as --help shows them. */
extern const char command_common_usage[];

/* Takes one option of the command: `option` is its val, below 256. COMMAND_GO_ON, or an exit code
 * after a message. */
typedef int command_option_fn(int option, const char *value, void *data);

/* Reads the command's options (own: ended by a zero entry; take may be NULL if it has none) and the
 * common ones, then node.conf; fills what of `node` they say. No arguments may be left.
 * COMMAND_GO_ON, or the exit code with which to end: --help is answered here. */
int command_options(const struct command *command, struct node *node, int argc, char **argv,
                    const struct option *own, command_option_fn *take, void *data);

/* The options of both prolog and epilog: the job, and where its reservation comes from. */
struct command_subject {
    const char *job, *reservation; /* as given; NULL: not given */
    bool dry_run;
};

#define COMMAND_SUBJECT_OPTIONS                                                                    \
    {"job", required_argument, NULL, 'j'}, {"reservation", required_argument, NULL, 'r'},          \
    {                                                                                              \
        "dry-run", no_argument, NULL, 'n'                                                          \
    }

void command_take_subject(struct command_subject *subject, int option, const char *value);

/* Says what is wrong with the command line and how to learn more; COMMAND_USAGE. command may be
 * NULL; format NULL: getopt has said it. */
__attribute__((format(printf, 2, 3))) int command_misused(const struct command *command,
                                                          const char *format, ...);

/* Says it; COMMAND_REFUSED. */
int command_failed(const struct error *err);
/* The exit code that fits. */
int command_exit(const struct mcast_error *error);
/* Says it, and returns that. */
int command_unanswered(const struct mcast_error *error);

/* Says that memory is exhausted; COMMAND_REFUSED. */
int command_no_memory(void);

/* The plain form of a job id, and that it can be one: Flux's hooks write f2Rs8sydSxmd with U+0192.
 * COMMAND_GO_ON, or COMMAND_USAGE after a message. text NULL: the option was not given. */
int command_job(const struct command *command, const char *text, char out[JOB_ID_MAX + 1]);

/* A duration; likewise. */
int command_duration(const struct command *command, const char *option, const char *text,
                     int64_t *ms);

/* The same of --patience, where a number without a unit is in seconds, as in mcastctl. */
int command_broker_retry(const struct command *command, const char *text, int64_t *ms);

/* A job's wishes for NIC resources into node->settings, where its like of every job is. What is not
 * taken as it stands is said. text may be NULL. */
void command_wishes(struct node *node, const char *text);

/* A number from 1 to 65535 of cores; likewise. */
int command_cores(const struct command *command, const char *text, uint32_t *cores);

/* Flushes standard output; COMMAND_REFUSED after a message when that fails, else rc. */
int command_finish(int rc);

/* Every command ends with this: releases the node and returns rc. */
int command_end(struct node *node, int rc);

#endif
