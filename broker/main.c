/* SPDX-License-Identifier: Apache-2.0 */
/* mcastd: reads its options and the configuration, and runs the broker or one of its small tasks.
 */

#include "base/roff.h"
#include "broker/broker.h"
#include "broker/dump.h"
#include "broker/config/config.h"
#include "broker/config/table.h"
#include "broker/service/hostcheck.h"
#include "broker/log/log.h"
#include "broker/config/file.h"
#include "broker/service/serviceuser.h"
#include "launch/sealed.h"
#include "state/store.h"
#include "tokens/guardedfile.h"
#include "tokens/seal_key.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

struct options {
    int (*task)(const struct options *options); /* returns the exit status; NULL: all is done */
    const char *config_path;
    const char *user; /* of the service; NULL: not named (serviceuser.h) */
    const char *file; /* of a task that has one */
    int log_level;    /* -1: as configured */
};

/* ---- the tasks ---- */

static void print_fault(void *arg, bool fault, const char *line)
{
    (void)arg;
    fprintf(stderr, "%s%s\n", line, fault ? "" : " (warning)");
}

/* For what is about to be done as root: the service logs its warnings itself.
 */
static void print_faults_only(void *arg, bool fault, const char *line)
{
    if (fault)
        print_fault(arg, fault, line);
}

static void log_fault(void *arg, bool fault, const char *line)
{
    (void)arg;
    log_line(fault ? LOG_ERR : LOG_WARNING, "%s", line);
}

static struct config *load_config(const char *path, uid_t user, config_look_fn *look,
                                  config_report_fn *report)
{
    struct config *config = config_create();
    if (config_load(config, path, user, look, report, NULL) == 0)
        return config;
    config_destroy(config);
    return NULL;
}

/* Faults of the configuration are reported afterwards. */
static int find_service(struct serviceuser *user, const struct options *options, struct error *err)
{
    struct config *config = config_create();
    /* Its files may belong to any user: nothing is done with what they say. */
    (void)config_load(config, options->config_path, CONFIG_ANY_OWNER, NULL, NULL, NULL);
    int rc = serviceuser_find(user, options->user, config, err);
    config_destroy(config);
    return rc;
}

/* This process is the service's user from now on. NULL after a message. */
static struct config *load_as_service(const struct options *options, config_look_fn *look,
                                      config_report_fn *report)
{
    struct serviceuser user;
    struct error err = {0};
    int rc = find_service(&user, options, &err);
    if (rc == ERROR_NOT_FOUND && !options->user)
        rc = 0; /* the missing folder is reported with the rest */
    else if (rc == 0)
        rc = serviceuser_become(&user, &err);
    if (rc < 0)
        fprintf(stderr, "mcastd: %s\n", err.text);
    return rc < 0 ? NULL : load_config(options->config_path, geteuid(), look, report);
}

static int check_config(const struct options *options)
{
    struct config *config = load_as_service(options, hostcheck_run, print_fault);
    int rc = config ? 0 : EXIT_FAILURE;
    config_destroy(config);
    return rc;
}

/* --make-key: the key that seals the ledger, made before the first start by root, for a service
 * whose own user may change nothing in /etc. A key that is there is kept. */
static int make_key(const struct options *options)
{
    struct serviceuser user;
    struct stat there;
    struct error err = {0};
    /* Root makes a file where the configuration says: no third user may be able to change that.
     * Where the service's user is not found, no file is made. */
    uid_t trusted = find_service(&user, options, &err) == 0 ? user.uid : CONFIG_ANY_OWNER;
    struct config *config = load_config(options->config_path, trusted, NULL, print_faults_only);
    if (!config)
        return EXIT_FAILURE;
    const char *path = config->state_key_file;
    bool needed = config->store != CONFIG_STORE_MEMORY && stat(path, &there) < 0;
    int rc = 0;
    if (needed && config->store == CONFIG_STORE_ETCD)
        rc = error_set(&err, ERROR_REFUSED,
                       "with store = etcd all brokers need the same: copy %s from another one, or "
                       "make the first with openssl rand -hex 32, mode 0600, owned by the user of "
                       "mcastd",
                       path);
    else if (needed)
        rc = serviceuser_find(&user, options->user, config, &err);
    if (rc == 0 && needed)
        rc = seal_key_create(path, user.uid, user.gid, &err);
    if (rc < 0)
        fprintf(stderr, "mcastd: no key was made: %s\n", err.text);
    else if (needed && store_sqlite_sealed(config->state_path))
        fprintf(stderr,
                "mcastd: made %s, but %s holds secrets which are sealed with another key: put that "
                "one back in its place\n",
                path, config->state_path);
    else if (needed)
        fprintf(stderr, "mcastd: made %s; keep a copy, but not beside copies of the ledger\n",
                path);
    config_destroy(config);
    return rc < 0 ? EXIT_FAILURE : 0;
}

/* NULL after a message. makes: there need be no keys. */
static struct config *load_launch_keys(const struct options *options, bool makes,
                                       struct launch_keys *keys)
{
    struct error err = {0};
    struct config *config = load_as_service(options, NULL, print_faults_only);
    if (config && config->launch_key_file[0] == '\0')
        (void)error_set(&err, ERROR_INVALID, "set launch_key_file in [broker] of %s first",
                        options->config_path);
    else if (config)
        (void)launch_keys_read(keys, config->launch_key_file, false, &err);
    if (!config || err.code == 0 || (err.code == ERROR_NOT_FOUND && makes))
        return config;
    fprintf(stderr, "mcastd: %s\n", err.text);
    config_destroy(config);
    return NULL;
}

static int save_launch_keys(const char *path, const struct launch_keys *keys, struct error *err)
{
    static const struct guardedfile_kind kind = {
        .what = "launch key file",
        .precious = "documents of jobs may have been made with it",
        .advice = "set [broker] launch_key_file to a place that the user of mcastd may write to"};
    char text[LAUNCH_KEYS_TEXT_SIZE];
    const size_t size = launch_keys_format(keys, false, text);
    const int old = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int rc = old < 0 ? guardedfile_create(path, &kind, text, size, geteuid(), getegid(), err)
                     : guardedfile_replace(path, &kind, old, text, size, err);
    explicit_bzero(text, sizeof text);
    if (old >= 0)
        close(old);
    return rc;
}

/* --rotate-launch-key: makes the first key, or the one that is to follow it, or drops the first. */
static int rotate_launch_key(const struct options *options)
{
    static const char *const next[] = {
        "made %s: reload mcastd, and give nodes what mcastd --node-launch-key prints\n",
        "%s has a next key, which is not used yet: give it to the nodes, then do this again\n",
        "%s: the next key is in use from the next reload on; nodes need the old one for 7 days\n"};
    struct launch_keys keys;
    struct error err = {0};
    struct config *config = load_launch_keys(options, true, &keys);
    if (!config)
        return EXIT_FAILURE;
    const size_t before = keys.count;
    int rc = 0;
    if (before == LAUNCH_KEYS_MAX)
        keys = (struct launch_keys){.count = 1, .at = {keys.at[1]}};
    else
        rc = launch_key_create(&keys.at[keys.count++], &err);
    if (rc == 0)
        rc = save_launch_keys(config->launch_key_file, &keys, &err);
    fputs("mcastd: ", stderr);
    if (rc < 0)
        fprintf(stderr, "nothing was changed: %s\n", err.text);
    else
        fprintf(stderr, next[before], config->launch_key_file);
    launch_keys_wipe(&keys);
    config_destroy(config);
    return rc < 0 ? EXIT_FAILURE : 0;
}

static int print_node_launch_key(const struct options *options)
{
    char text[LAUNCH_KEYS_TEXT_SIZE] = "";
    struct launch_keys keys;
    struct config *config = load_launch_keys(options, false, &keys);
    if (config)
        (void)launch_keys_format(&keys, true, text);
    int rc = !config || fputs(text, stdout) < 0 || fflush(stdout) != 0 ? EXIT_FAILURE : 0;
    launch_keys_wipe(&keys);
    explicit_bzero(text, sizeof text);
    config_destroy(config);
    return rc;
}

static int move_ledger(const struct options *options,
                       int how(const struct config *, const char *file, struct error *))
{
    struct error err = {0};
    struct config *config = load_as_service(options, NULL, print_faults_only);
    const int rc = config ? how(config, options->file, &err) : ERROR_INVALID;
    if (config && rc < 0)
        fprintf(stderr, "mcastd: %s\n", err.text);
    config_destroy(config);
    return rc < 0 ? EXIT_FAILURE : 0;
}

static int export_ledger(const struct options *options)
{
    return move_ledger(options, dump_export);
}

static int import_ledger(const struct options *options)
{
    return move_ledger(options, dump_import);
}

static int accept_ledger(const struct options *options)
{
    return move_ledger(options, dump_accept);
}

static int run_service(const struct options *options)
{
    sigset_t hangup;
    (void)sigemptyset(&hangup);
    (void)sigaddset(&hangup, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &hangup, NULL);
    struct config *config = load_config(options->config_path, geteuid(), pathcheck_run, log_fault);
    if (!config)
        log_line(LOG_ERR,
                 "not started: correct what is named above; mcastd --config %s --check tells "
                 "whether it is right",
                 options->config_path);
    return config ? broker_run(config, options->config_path, options->log_level) : EXIT_FAILURE;
}

/* ---- the command line ---- */

static const struct {
    const char *name;
    const char *value; /* NULL: takes none; "[USER]": may take one */
    char letter;
    const char *sentence;
    int (*task)(const struct options *options); /* NULL: none; its value is a user or a file */
} rows[] = {
    {"config", "FILE", 'c', "read FILE and conf.d/*.conf beside it (" CONFIG_DEFAULT_PATH ")",
     NULL},
    {"check", "[USER]", 'k', "check the configuration as USER's service reads it, exit 0 or 1",
     check_config},
    {"log-level", "LEVEL", 'l',
     "error, warning, notice, info or debug; overrides the configuration", NULL},
    {"make-key", "[USER]", 'K', "make [state] key_file for USER when there is none, and exit",
     make_key},
    {"rotate-launch-key", "[USER]", 'R',
     "make [broker] launch_key_file; add its next key; or use that one", rotate_launch_key},
    {"node-launch-key", "[USER]", 'N', "print what nodes need of it, for their launch_key",
     print_node_launch_key},
    {"export", "FILE", 'E', "write the ledger to a new FILE, or to - (standard output), and exit",
     export_ledger},
    {"import", "FILE", 'I', "make a ledger of such a FILE where there is none yet, and exit",
     import_ledger},
    {"accept-ledger", "[USER]", 'A',
     "have brokers take the ledger in etcd, though they know another or a later one, and exit",
     accept_ledger},
    {"help-config", NULL, 'H', "explain every key of the configuration", NULL},
    {"sample-config", NULL, 'S', "print a configuration to begin with", NULL},
    {"version", NULL, 'V', "print the version", NULL},
    {"help", NULL, 'h', "print this", NULL},
    {"man-page", "SECTION", 'M', "print the manual page of section 5 or 8, as roff", NULL},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* For --help. */
static void print_option_lines(FILE *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        char option[32];
        const char *value = rows[i].value ? rows[i].value : "";
        bool optional = value[0] == '[';
        (void)snprintf(option, sizeof option, "--%s%s%s", rows[i].name,
                       optional           ? "[="
                       : value[0] != '\0' ? " "
                                          : "",
                       value + optional);
        fprintf(out, "  %-20s%s%s\n", option, strlen(option) < 20 ? "" : "\n                      ",
                rows[i].sentence);
    }
}

/* For mcastd(8). */
static void print_options(FILE *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        const char *value = rows[i].value;
        fputs(".TP\n.B ", out);
        roff_text(out, "--");
        roff_text(out, rows[i].name);
        if (value && value[0] == '[')
            fprintf(out, "[=%s", value + 1);
        else if (value)
            fprintf(out, " %s", value);
        fputc('\n', out);
        roff_text(out, rows[i].sentence);
        fputs(".\n", out);
    }
}

static void print_usage(void)
{
    static void (*const parts[])(FILE *) = {print_option_lines};
    config_print_page(stdout, usage_page_document, parts);
}

static bool print_man_page(const char *section)
{
    static void (*const parts[])(FILE *) = {print_options};
    if (strcmp(section, "5") == 0) {
        config_print_man(stdout);
    } else if (strcmp(section, "8") == 0) {
        roff_title(stdout, "MCASTD", 8);
        config_print_page(stdout, mcastd_page_document, parts);
    } else {
        return false;
    }
    return true;
}

static int usage_error(void)
{
    fputs("mcastd --help lists the options\n", stderr);
    return EX_USAGE;
}

static int set_log_level(struct options *options, const char *word)
{
    options->log_level = log_level_of(word);
    if (options->log_level >= 0)
        return 0;
    fprintf(stderr, "mcastd: --log-level %s: allowed is error, warning, notice, info or debug\n",
            word);
    return EX_USAGE;
}

/* 0, or EX_USAGE. */
static int apply_option(struct options *options, int letter, const char *value)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].letter != letter || !rows[i].task)
            continue;
        options->task = rows[i].task;
        *(rows[i].value[0] == '[' ? &options->user : &options->file) = value;
        return 0;
    }
    switch (letter) {
    case 'c':
        options->config_path = value;
        return 0;
    case 'l':
        return set_log_level(options, value);
    case 'H':
        config_print_help(stdout);
        break;
    case 'S':
        config_print_sample(stdout);
        break;
    case 'V':
        puts("mcastd " MCAST_VERSION);
        break;
    case 'h':
        print_usage();
        break;
    case 'M':
        if (!print_man_page(value))
            return usage_error();
        break;
    default:
        return usage_error();
    }
    options->task = NULL;
    return 0;
}

/* 0; EX_USAGE with a sentence on stderr. Prints what is only to be printed. */
static int parse_options(struct options *options, int argc, char **argv)
{
    struct option known[ROWS + 1] = {{NULL, 0, NULL, 0}};
    int rc = 0, letter;
    for (size_t i = 0; i < ROWS; i++) {
        int value = !rows[i].value            ? no_argument
                    : rows[i].value[0] == '[' ? optional_argument
                                              : required_argument;
        known[i] = (struct option){rows[i].name, value, NULL, rows[i].letter};
    }
    *options = (struct options){run_service, .config_path = CONFIG_DEFAULT_PATH, .log_level = -1};
    while (rc == 0 && options->task && (letter = getopt_long(argc, argv, "", known, NULL)) != -1)
        rc = apply_option(options, letter, optarg);
    if (rc == 0 && options->task && optind < argc) {
        fprintf(stderr, "mcastd takes no arguments, this is one: %s\n", argv[optind]);
        rc = EX_USAGE;
    }
    return rc;
}

int main(int argc, char **argv)
{
    struct options options;
    int status = parse_options(&options, argc, argv);
    if (status != 0 || !options.task)
        return status;
    log_open(LOG_JOURNAL_SOCKET);
    return options.task(&options);
}
