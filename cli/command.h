/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The commands of mcastctl, and what they have in common: options, the connection, exit codes (enum
 * mcast_exit; MCAST_EXIT_REFUSED also when the output cannot be written). */

#include "client/mcast.h"

#include <jansson.h>

enum { COMMAND_OPTIONS_MAX = 20, COMMAND_JOB_SIZE = 160, COMMAND_STEP_SIZE = 1024 };

struct call;
struct column;

struct command_option {
    const char *name;
    /* NULL: it takes none. "": any. "one,or,other": one of these words, which command_word reads;
     * "[one,or,other]": several. A word in upper case: what shells complete it by, as
     * values_print knows it; "COLUMN" and "COLUMNS": of the command's own. */
    const char *value;
};

enum command_arguments {
    COMMAND_NO_ARGUMENTS,
    COMMAND_ONE_JOB,
    COMMAND_KNOWN_JOB, /* the same; without a cluster that of the broker, if it serves one alone */
    COMMAND_OWN_ARGUMENTS
};
enum command_broker {
    COMMAND_CONNECTED, /* call->handle is open */
    COMMAND_ALONE,     /* it may need no broker: it calls command_open itself */
};

struct command {
    const char *name;    /* its help is cli/text/NAME.txt */
    const char *summary; /* one line for `mcastctl --help` */
    enum command_arguments arguments;
    enum command_broker broker;
    const struct command_option *options; /* of its own, ended by a zero entry; NULL: none */
    const char *argument; /* that it takes, as an option's value; NULL: as `arguments` says */
    const struct column *columns; /* that its list can have, ended by a zero entry; or NULL */
    /* Returns an exit code; or a negative code: call->error says why, unless it has no text. */
    int (*run)(struct call *call);
};

enum { COMMAND_GROUP_MAX = 8 };

/* What `mcastctl --help` lists together. */
struct command_group {
    const char *title;                                     /* NULL ends the groups */
    const struct command *commands[COMMAND_GROUP_MAX + 1]; /* ended by NULL */
};

extern const struct command command_reserve, command_launch, command_nodes_clean, command_release,
    command_show, command_list, command_env, command_sync, command_fence, command_events,
    command_status, command_doctor, command_token, command_cleanup, command_check,
    command_accept_loss, command_claim, command_step_down, command_options, command_self,
    command_traffic, command_vni, command_nodes, command_topology, command_plan, command_top,
    command_ui;

/* One command line. Options that were not given are NULL; those without a value are "". */
struct call {
    const struct command *command; /* NULL: its name has not been read */
    const char *url;               /* NULL: MCAST_URL or the default socket */
    const char *cluster;           /* --cluster, or MCAST_CLUSTER; NULL: neither, or empty */
    json_t *whoami;                /* of COMMAND_KNOWN_JOB: has the cluster; or NULL */
    const char *json;
    const char
        *complete; /* kind of values that a shell asks for (cli/completion/values.h); or NULL */
    const char *colour;                     /* auto, always or never; NULL: auto */
    const char *cacert, *cert, *key;        /* NULL: MCAST_CACERT, MCAST_CERT, MCAST_KEY */
    const char *munge_socket;               /* NULL: MCAST_MUNGE_SOCKET; else MUNGE must work */
    const char *server_user;                /* NULL: MCAST_SERVER_USER */
    const char *retry_timeout;              /* how long to retry; NULL: not at all */
    const char *given[COMMAND_OPTIONS_MAX]; /* the command's own options, by their index */
    char **arguments;
    size_t argument_count;
    char job[COMMAND_JOB_SIZE];   /* of COMMAND_ONE_JOB, in its plain form (base/jobid.h) */
    char step[COMMAND_STEP_SIZE]; /* of command_step */
    struct mcast *handle;         /* closed after the command */
    struct mcast_error error;
};

/* Of those that each command takes, the one at this place; NULL: there are no more. */
const struct command_option *command_common_option(size_t at);

/* Runs the command that the command line names, or prints help. An exit code. */
int command_main(const struct command_group groups[], int argc, char **argv);

/* Says on standard error what is wrong with the command line and how to learn more; MCAST_USAGE. */
__attribute__((format(printf, 2, 3))) int command_misused(struct call *call, const char *format,
                                                          ...);

/* ---- What options and arguments say: 0 or MCAST_USAGE after a message ---- */

/* That there are no arguments; exactly one job, and a cluster. */
int command_no_arguments(struct call *call);
int command_job(struct call *call);

/* The cluster, if it is not named: that of the broker, if it serves one alone. After command_open;
 * 0, or a negative code. */
int command_cluster(struct call *call);

/* A step in its plain form, into call->step; "" when the option was not given. */
int command_step(struct call *call, size_t option);

/* A number from min to max, digits only; *out stays when the option was not given. */
int command_number(struct call *call, size_t option, uint64_t min, uint64_t max, uint64_t *out);

/* A time from 1 to max_ms milliseconds; *out stays when the option was not given. */
int command_duration(struct call *call, size_t option, int64_t max_ms, int64_t *out);

/* That a time is not shorter than this. */
int command_least(struct call *call, size_t option, int64_t ms, int64_t min_ms);

/* Which of its words the option's value is; *out stays when it was not given. */
int command_word(struct call *call, size_t option, unsigned *out);

/* Cuts text into at most max words, which it ends by NULL. False: one is empty, or more. */
bool command_split(char *text, const char **words, size_t max);

/* ---- The broker ---- */

/* A handle of the broker that the options name, with what they say of credentials and retries. 0,
 * or a negative code with call->error. */
int command_open(struct call *call);

/* ---- Output: an exit code ---- */

/* Prints JSON text and a newline, and frees it. */
int command_print_json(char *json);

/* Prints an answer of the broker, which it frees: indented, or by a function of the command. */
int command_print_answer(const struct call *call, char *json,
                         int (*print)(const struct call *call, json_t *answer));

/* The same for what the caller has made of it. */
int command_print_object(json_t *object);

/* The text of a member of an object; NULL: there is none. */
static inline const char *command_text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* Flushes standard output; MCAST_EXIT_REFUSED after a message when that fails (a full disk). */
int command_finish(void);
