/* mcastd: reads the configuration, joins the rooms, and runs until it is told to stop. */

#include "broker/config.h"
#include "broker/engine.h"
#include "broker/http/http.h"
#include "broker/log.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <uv.h>

enum { SIGNALS = 3 };

struct broker {
    uv_loop_t loop;
    const struct config *config;
    struct engine *engine;
    struct http *http;
    uv_signal_t signals[SIGNALS];
    bool stopping;
    int status;
};

/* ---- options ---- */

struct options {
    const char *config_path;
    const char *log_level; /* NULL: as configured */
    bool check;
};

static void print_usage(FILE *out)
{
    fputs(
        "mcastd: gives VNIs and multicast addresses of HPE Slingshot to the jobs of any resource\n"
        "manager.\n"
        "\n"
        "usage: mcastd [OPTION]...\n"
        "  --config FILE      read FILE and conf.d/*.conf beside it (" CONFIG_DEFAULT_PATH ")\n"
        "  --check            tell what is wrong with the configuration, exit 0 or 1\n"
        "  --log-level LEVEL  error, warning, notice, info or debug; overrides the configuration\n"
        "  --help-config      explain every key of the configuration\n"
        "  --sample-config    print a configuration to begin with\n"
        "  --version, --help\n"
        "\n"
        "examples:\n"
        "  mcastd --sample-config > /etc/mcastd/mcastd.conf\n"
        "  mcastd --check && systemctl restart mcastd\n"
        "\n"
        "SIGTERM: answer what was accepted, then stop. Exit status: 0 stopped, 1 cannot start,\n"
        "64 wrong usage, 75 another broker has taken over.\n",
        out);
}

/* Ends the process where an option says so. */
static void parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'},
        {"check", no_argument, NULL, 'k'},
        {"log-level", required_argument, NULL, 'l'},
        {"help-config", no_argument, NULL, 'H'},
        {"sample-config", no_argument, NULL, 'S'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){.config_path = CONFIG_DEFAULT_PATH};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case 'c':
            options->config_path = optarg;
            break;
        case 'k':
            options->check = true;
            break;
        case 'l':
            options->log_level = optarg;
            break;
        case 'H':
            config_print_help(stdout);
            exit(0);
        case 'S':
            config_print_sample(stdout);
            exit(0);
        case 'V':
            puts("mcastd " MCAST_VERSION);
            exit(0);
        case 'h':
            print_usage(stdout);
            exit(0);
        default:
            fputs("mcastd --help tells the options\n", stderr);
            exit(EX_USAGE);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "mcastd takes no arguments, this is one: %s\n", argv[optind]);
        exit(EX_USAGE);
    }
}

/* The option, if given, counts for more than the configuration. */
static int log_level_of(const struct options *options, const struct config *config)
{
    if (options->log_level == NULL)
        return config->log_level;
    for (int level = LOG_ERR; level <= LOG_DEBUG; level++) {
        if (strcmp(options->log_level, log_level_word(level)) == 0)
            return level;
    }
    fprintf(stderr, "--log-level is one of error, warning, notice, info, debug\n");
    exit(EX_USAGE);
}

/* ---- configuration ---- */

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

static struct config *load_config(const struct options *options)
{
    struct config *config = config_create();
    if (config == NULL) {
        log_line(LOG_ERR, "memory is exhausted");
        return NULL;
    }
    if (config_load(config, options->config_path, options->check ? print_fault : log_fault, NULL) <
        0) {
        config_destroy(config);
        return NULL;
    }
    return config;
}

/* ---- stopping ---- */

static void on_http_closed(void *arg)
{
    struct broker *broker = arg;
    broker->http = NULL;
    for (int i = 0; i < SIGNALS; i++)
        uv_close((uv_handle_t *)&broker->signals[i], NULL);
}

static void on_engine_stopped(void *arg)
{
    struct broker *broker = arg;
    if (broker->http != NULL)
        http_destroy(broker->http, on_http_closed, broker);
    else
        on_http_closed(broker);
}

static void stop(struct broker *broker)
{
    broker->stopping = true;
    if (broker->http != NULL)
        http_quiesce(broker->http);
    if (broker->engine != NULL)
        engine_stop(broker->engine, on_engine_stopped, broker);
    else
        on_engine_stopped(broker);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct broker *broker = handle->data;
    if (signum == SIGHUP) {
        log_line(LOG_WARNING, "reload is not supported: restart mcastd to apply changes");
        return;
    }
    if (broker->stopping) {
        log_line(LOG_WARNING, "told twice to stop: leaving at once, as after a crash");
        _Exit(EXIT_FAILURE);
    }
    log_line(LOG_NOTICE, "stopping: answering what was accepted");
    stop(broker);
}

/* ---- starting ---- */

static void prepare_process(const struct config *config)
{
    struct rlimit files;
    umask(077);
    (void)signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    rlim_t wanted = (rlim_t)config->connections_max + 256;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < wanted)
        log_line(LOG_WARNING,
                 "only %ju open files are allowed, connections_max = %u needs %ju: raise "
                 "LimitNOFILE",
                 (uintmax_t)files.rlim_cur, config->connections_max, (uintmax_t)wanted);
}

static int start_signals(struct broker *broker, struct error *err)
{
    static const int signals[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    for (int i = 0; i < SIGNALS; i++) {
        (void)uv_signal_init(&broker->loop, &broker->signals[i]);
        broker->signals[i].data = broker;
    }
    for (int i = 0; i < SIGNALS; i++) {
        int rc = uv_signal_start(&broker->signals[i], on_signal, signals[i]);
        if (rc < 0)
            return error_set(err, ERROR_IO, "cannot wait for signals: %s", uv_strerror(rc));
    }
    return 0;
}

static enum fmapi_auth auth_of(int auth)
{
    switch ((enum config_auth)auth) {
    case CONFIG_AUTH_BASIC:
        return FMAPI_AUTH_BASIC;
    case CONFIG_AUTH_OAUTH:
        return FMAPI_AUTH_OAUTH;
    case CONFIG_AUTH_NONE:
        break;
    }
    return FMAPI_AUTH_NONE;
}

static int create_engine(struct broker *broker, struct error *err)
{
    const struct config *config = broker->config;
    struct fmapi_options fabric = {
        .auth = auth_of(config->fm_auth),
        .authdir = config->fm_authdir,
        .mtls_cert = config->fm_mtls_cert[0] != '\0' ? config->fm_mtls_cert : NULL,
        .mtls_key = config->fm_mtls_key[0] != '\0' ? config->fm_mtls_key : NULL,
        .ca = config->fm_ca[0] != '\0' ? config->fm_ca : NULL,
        .verify = config->fm_verify,
        .timeout_ms = config->core.call_timeout_ms,
        .parallel = config->core.calls_at_once,
    };
    static_assert((int)FMAPI_URLS_MAX == (int)FM_URLS_MAX, "as many URLs as the core knows");
    for (uint32_t i = 0; i < config->core.fm_url_count; i++)
        fabric.urls[i] = config->core.fm_urls[i];
    struct engine_options options = {
        .loop = &broker->loop,
        .core = &config->core,
        .fabric = config->core.fm_present ? &fabric : NULL,
    };
    options.store = config->store == CONFIG_STORE_MEMORY
                        ? store_memory_open(err)
                        : store_sqlite_open(config->state_path, config->state_key_file, err);
    if (options.store == NULL)
        return err->code;
    broker->engine = engine_create(&options, err);
    if (broker->engine == NULL) {
        store_close(options.store);
        return err->code;
    }
    return 0;
}

static int start_http(struct broker *broker, struct error *err)
{
    const struct config *config = broker->config;
    static const char *const nobody[] = {NULL};
    struct http_cluster clusters[CLUSTERS_MAX];
    for (uint32_t i = 0; i < config->core.cluster_count; i++) {
        clusters[i].name = config->clusters[i].name;
        clusters[i].users = config->clusters[i].users != NULL
                                ? (const char *const *)config->clusters[i].users
                                : nobody;
        clusters[i].nodes = config->clusters[i].nodes[0] != '\0' ? config->clusters[i].nodes : NULL;
    }
    struct http_options options = {
        .loop = &broker->loop,
        .engine = broker->engine,
        .socket_path = config->socket,
        .socket_mode = config->socket_mode,
        .socket_group = config->socket_group[0] != '\0' ? config->socket_group : NULL,
        .listen = config->listen[0] != '\0' ? config->listen : NULL,
        .tls_cert = config->tls_cert[0] != '\0' ? config->tls_cert : NULL,
        .tls_key = config->tls_key[0] != '\0' ? config->tls_key : NULL,
        .tls_client_ca = config->tls_client_ca[0] != '\0' ? config->tls_client_ca : NULL,
        .munge_socket = config->munge_socket[0] != '\0' ? config->munge_socket : NULL,
        .admins = (const char *const *)config->admins,
        .clusters = clusters,
        .cluster_count = config->core.cluster_count,
        .metrics_anonymous = config->metrics_anonymous,
        .connections_max = config->connections_max,
    };
    broker->http = http_create(&options, err);
    return broker->http != NULL ? 0 : err->code;
}

/* host is the configured HOST:PORT; the port may have been 0. */
static void print_address(char *out, size_t size, const char *listen, int port)
{
    const char *colon = strrchr(listen, ':');
    (void)snprintf(out, size, "%.*s:%d", colon != NULL ? (int)(colon - listen) : 0, listen, port);
}

static void log_ready(const struct broker *broker, uint64_t began_ns)
{
    const struct config *config = broker->config;
    char clusters[CLUSTERS_MAX * (CLUSTER_NAME_MAX + 1) + 1] = "";
    char listen[sizeof config->listen + 16] = "none";
    struct core_status status;
    size_t length = 0;
    for (uint32_t i = 0; i < config->core.cluster_count; i++)
        length += (size_t)snprintf(clusters + length, sizeof clusters - length, "%s%s",
                                   i > 0 ? "," : "", config->clusters[i].name);
    if (config->listen[0] != '\0')
        print_address(listen, sizeof listen, config->listen, http_port(broker->http));
    core_status(engine_core(broker->engine), &status);
    log_line(LOG_NOTICE,
             "READY socket=%s listen=%s clusters=%s fm=%s reservations=%" PRIu64 " took_ms=%" PRIu64
             " version=%s",
             config->socket, listen, clusters,
             config->core.fm_present ? config->core.fm_urls[0] : "none",
             status.jobs_active + status.jobs_releasing, (uv_hrtime() - began_ns) / 1000000,
             MCAST_VERSION);
}

static int run(const struct config *config)
{
    struct broker broker = {.config = config};
    struct error err = {0};
    uint64_t began_ns = uv_hrtime();
    prepare_process(config);
    if (uv_loop_init(&broker.loop) < 0) {
        log_line(LOG_ERR, "cannot make an event loop: %s", strerror(errno));
        return EXIT_FAILURE;
    }
    /* The socket is there before the ledger is read, so that after a restart clients wait a moment
     * instead of being refused. */
    if (start_signals(&broker, &err) < 0 || create_engine(&broker, &err) < 0 ||
        start_http(&broker, &err) < 0 || engine_start(broker.engine, &err) < 0) {
        log_line(LOG_ERR, "cannot start: %s", err.text);
        broker.status = EXIT_FAILURE;
        stop(&broker);
    } else {
        log_ready(&broker, began_ns);
    }
    (void)uv_run(&broker.loop, UV_RUN_DEFAULT);

    struct engine_counters counters = {0};
    if (broker.engine != NULL)
        engine_counters(broker.engine, &counters);
    if (counters.role == ROLE_STANDBY) {
        broker.status = EX_TEMPFAIL;
        if (!broker.stopping)
            stop(&broker);
        (void)uv_run(&broker.loop, UV_RUN_DEFAULT);
    }
    engine_destroy(broker.engine);
    (void)uv_loop_close(&broker.loop);
    log_line(LOG_NOTICE, "stopped status=%d", broker.status);
    return broker.status;
}

int main(int argc, char **argv)
{
    struct options options;
    parse_options(argc, argv, &options);
    log_open();
    struct config *config = load_config(&options);
    if (config == NULL)
        return EXIT_FAILURE;
    config->core.trace_level = log_level_of(&options, config);
    log_set_level(config->core.trace_level);
    int status = options.check ? check_folders(config) : run(config);
    config_destroy(config);
    return status;
}
