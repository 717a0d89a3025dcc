/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLI_COMMAND_H
#define MCAST_CLI_COMMAND_H

/* The commands of mcastctl, and what they have in common: options, the connection, exit codes. */

#include "client/mcast.h"

#include <getopt.h>

/* Scripts rely on these (docs/promises.md). */
enum exit_code {
    EXIT_OK = MCAST_EXIT_OK,
    EXIT_REFUSED = MCAST_EXIT_REFUSED, /* or the output could not be written */
    EXIT_USAGE = MCAST_EXIT_USAGE,
    EXIT_NOT_FOUND = MCAST_EXIT_NOT_FOUND,
    EXIT_UNREACHABLE = MCAST_EXIT_NO_ANSWER,
};

/* What the common options say. */
struct common {
    const char *url;     /* NULL: MCAST_URL or the default socket */
    const char *cluster; /* --cluster, or MCAST_CLUSTER; NULL: neither, or empty */
    bool json;
    const char *cacert, *cert, *key; /* NULL: MCAST_CACERT, MCAST_CERT, MCAST_KEY */
    const char *server_user;         /* NULL: MCAST_SERVER_USER */
    const char *munge_socket;        /* NULL: MCAST_MUNGE_SOCKET; else MUNGE must work */
    const char *patience;            /* how long to retry; NULL: not at all */
};

struct command {
    const char *name;
    const char *summary; /* one line for `mcastctl --help` */
    const char *usage;   /* all of `mcastctl NAME --help`, before the common options */
    int (*run)(const struct command *command, struct common *common, int argc, char **argv);
};

extern const struct command command_reserve, command_release, command_show, command_list,
    command_env, command_sync, command_fence, command_events, command_status, command_doctor,
    command_token, command_cleanup, command_check, command_accept_loss, command_claim;

/* Takes one option of the command: short is its `val`. 0, or an exit code after a message. */
typedef int command_option_fn(int option, const char *value, void *data);

enum { COMMAND_GO_ON = -1, COMMAND_OPTIONS_MAX = 32, COMMAND_VERSION = 300, COMMAND_MAN_PAGE };

/* Reads the command's options (own: ended by a zero entry, values below 256; NULL: none) and the
 * common ones, in any order with the arguments; optind then names the first argument.
 * COMMAND_GO_ON, or the exit code with which to end: --help and --version are answered here. */
int command_options(const struct command *command, struct common *common, int argc, char **argv,
                    const struct option *own, command_option_fn *take, void *data);

/* The common options as `mcastctl --help` shows them. */
extern const char command_common_usage[];

/* Says on standard error what is wrong with the command line and how to learn more; EXIT_USAGE.
 * command may be NULL. */
__attribute__((format(printf, 2, 3))) int command_misused(const struct command *command,
                                                          const char *format, ...);

/* Says what the library says, with the next step; returns the exit code that fits. */
int command_failed(const struct mcast_error *error);

/* The common options, for a command of their own or before its name; they have values from 256.
 * False: it is not one that only stores a value. */
extern const struct option command_shared_options[];
extern const size_t command_shared_count;
bool command_store(struct common *common, int option, const char *value);

/* The one job that the arguments name, in its plain form (base/jobid.h), written into job; and
 * that a cluster is known. COMMAND_GO_ON or EXIT_USAGE after a message. */
int command_job(const struct command *command, const struct common *common, int argc, char **argv,
                char *job, size_t size);

/* That no arguments are left. */
int command_no_arguments(const struct command *command, int argc, char **argv);

/* A number from 0 to max, digits only. False: it is none. */
bool command_number(const char *text, uint64_t max, uint64_t *out);

/* A handle of the broker that the options name, with what they say of credentials and retries;
 * *out is NULL on entry and after a failure. */
int command_connect(const struct common *common, struct mcast **out, struct mcast_error *error);

/* The same; COMMAND_GO_ON or an exit code after a message. */
int command_open(const struct common *common, struct mcast **out);

/* Prints JSON text and a newline, and frees it; NULL is memory exhausted. An exit code. */
int command_print_json(char *json);

/* What doctor and check have found: for people, or as JSON. An exit code. */
struct findings;
int command_print_findings(const struct findings *findings, bool json);

/* Flushes standard output; EXIT_REFUSED after a message when that fails (a full disk). */
int command_finish(void);

#endif
