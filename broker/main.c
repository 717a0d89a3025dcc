/* mcastd: reads the configuration, and runs the broker or one of its small tasks. */

#include "broker/broker.h"
#include "broker/config.h"
#include "broker/firstkey.h"
#include "broker/log.h"
#include "broker/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void print_fault(void *arg, bool fault, const char *line)
{
    (void)arg;
    fprintf(stderr, "%s%s\n", line, fault ? "" : " (warning)");
}

static void log_fault(void *arg, bool fault, const char *line)
{
    (void)arg;
    log_line(fault ? LOG_ERR : LOG_WARNING, "%s", line);
}

/* Nobody makes these folders at start: their owner and mode are the site's to choose. */
static int check_folder(const char *key, const char *path)
{
    char folder[PATH_MAX];
    struct stat found;
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length == 0 || length >= sizeof folder)
        return 0;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (stat(folder, &found) == 0)
        return 0;
    fprintf(stderr, "%s = %s: %s: %s; make it with install -d -o USER %s\n", key, path, folder,
            strerror(errno), folder);
    return -1;
}

static int check_folders(const struct config *config)
{
    int socket = check_folder("[broker] socket", config->socket);
    int state =
        config->store == CONFIG_STORE_MEMORY ? 0 : check_folder("[state] path", config->state_path);
    return socket < 0 || state < 0 ? EXIT_FAILURE : 0;
}

static struct config *load_config(const char *path, config_report_fn *report)
{
    struct config *config = config_create();
    if (config == NULL) {
        log_line(LOG_ERR, "memory is exhausted");
        return NULL;
    }
    if (config_load(config, path, report, NULL) < 0) {
        config_destroy(config);
        return NULL;
    }
    return config;
}

static int check(const struct options *options)
{
    struct config *config = load_config(options->config_path, print_fault);
    if (config == NULL)
        return EXIT_FAILURE;
    int status = check_folders(config);
    config_destroy(config);
    return status;
}

static int make_key(const struct options *options)
{
    struct config *config = load_config(options->config_path, print_fault);
    struct error err = {0};
    bool made = false;
    if (config == NULL)
        return EXIT_FAILURE;
    int rc = firstkey_make(config, options->key_user, &made, &err);
    if (rc < 0)
        fprintf(stderr, "mcastd: no key was made: %s\n", err.text);
    else if (made)
        fprintf(stderr, "mcastd: made %s; keep a copy, but not beside copies of the ledger\n",
                config->state_key_file);
    config_destroy(config);
    return rc < 0 ? EXIT_FAILURE : 0;
}

static int run(const struct options *options)
{
    sigset_t hangup;
    (void)sigemptyset(&hangup);
    (void)sigaddset(&hangup, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &hangup, NULL);
    struct config *config = load_config(options->config_path, log_fault);
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
        return run(&options);
    case OPTIONS_CHECK:
        return check(&options);
    case OPTIONS_MAKE_KEY:
        return make_key(&options);
    case OPTIONS_DONE:
        break;
    }
    return 0;
}
