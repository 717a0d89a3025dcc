/* SPDX-License-Identifier: Apache-2.0 */
/* mcastd: reads the configuration, and runs the broker or one of its small tasks. */

#include "broker/broker.h"
#include "broker/config/config.h"
#include "broker/service/hostcheck.h"
#include "broker/log/log.h"
#include "broker/options.h"
#include "broker/config/pathcheck.h"
#include "broker/service/serviceuser.h"
#include "state/store.h"
#include "tokens/seal_key.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
    /* Whoever owns its files: nothing will be done because of them. */
    (void)config_load(config, options->config_path, CONFIG_ANY_OWNER, NULL, NULL, NULL);
    int rc = serviceuser_find(user, options->user, config, err);
    config_destroy(config);
    return rc;
}

static int check_config(const struct options *options)
{
    struct serviceuser user;
    struct error err = {0};
    int rc = find_service(&user, options, &err);
    if (rc == ERROR_NOT_FOUND && options->user == NULL)
        rc = 0; /* the missing folder is reported with the rest */
    else if (rc == 0)
        rc = serviceuser_become(&user, &err);
    if (rc < 0) {
        fprintf(stderr, "mcastd: %s\n", err.text);
        return EXIT_FAILURE;
    }
    struct config *config =
        load_config(options->config_path, geteuid(), hostcheck_run, print_fault);
    rc = config != NULL ? 0 : EXIT_FAILURE;
    config_destroy(config);
    return rc;
}

/* --make-key: the key that seals the ledger, made before the first start by root, for a service
 * whose own user may change nothing in /etc. A key that is there is kept. */
static int make_key_file(const struct config *config, const char *user, bool *made,
                         struct error *err)
{
    struct stat there;
    struct serviceuser owner;
    *made = false;
    if (config->store == CONFIG_STORE_MEMORY || stat(config->state_key_file, &there) == 0)
        return 0;
    int rc = serviceuser_find(&owner, user, config, err);
    if (rc == 0)
        rc = seal_key_create(config->state_key_file, owner.uid, owner.gid, err);
    *made = rc == 0;
    return rc;
}

static int make_key(const struct options *options)
{
    struct serviceuser user;
    struct error err = {0};
    bool made = false;
    /* Root makes a file where the configuration says: no third user may be able to change that.
     * Where the service's user is not found, no file is made. */
    uid_t trusted = find_service(&user, options, &err) == 0 ? user.uid : CONFIG_ANY_OWNER;
    struct config *config = load_config(options->config_path, trusted, NULL, print_faults_only);
    if (config == NULL)
        return EXIT_FAILURE;
    int rc = make_key_file(config, options->user, &made, &err);
    if (rc < 0)
        fprintf(stderr, "mcastd: no key was made: %s\n", err.text);
    else if (made && store_sqlite_sealed(config->state_path))
        fprintf(stderr,
                "mcastd: made %s, but %s holds secrets which are sealed with another key: put that "
                "one back in its place\n",
                config->state_key_file, config->state_path);
    else if (made)
        fprintf(stderr, "mcastd: made %s; keep a copy, but not beside copies of the ledger\n",
                config->state_key_file);
    config_destroy(config);
    return rc < 0 ? EXIT_FAILURE : 0;
}

static int run_service(const struct options *options)
{
    sigset_t hangup;
    (void)sigemptyset(&hangup);
    (void)sigaddset(&hangup, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &hangup, NULL);
    struct config *config = load_config(options->config_path, geteuid(), pathcheck_run, log_fault);
    return config != NULL ? broker_run(config, options->config_path, options->log_level)
                          : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct options options;
    int status = options_parse(&options, argc, argv);
    if (status != 0)
        return status;
    log_open();
    switch (options.task) {
    case OPTIONS_RUN:
        return run_service(&options);
    case OPTIONS_CHECK:
        return check_config(&options);
    case OPTIONS_MAKE_KEY:
        return make_key(&options);
    case OPTIONS_DONE:
        break;
    }
    return 0;
}
