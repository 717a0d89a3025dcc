/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/jobtap.h"
#include "deploy/flux/jobtap/event.h"
#include "deploy/flux/jobtap/query.h"
#include "base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A release tries for so long; the resource manager is a manager to the broker, and may have many
 * connections. */
enum { RELEASE_MS = 600000, CONNECTIONS = 256 };
enum { RETRY_S = 30, RETRY_MAX_S = 86400 };

static const char aux_name[] = "mcast::jobtap";
static const char no_reactor[] = "Flux's reactor does not take it";

/* ---- releasing ---- */

struct release {
    struct jobtap *jobtap;
    char job[];
};

/* Not found: it was never reserved, and the broker remembers that it is over. */
static void on_released(const struct mcast_outcome *outcome, void *data)
{
    struct release *release = data;
    if (outcome->code < 0 && outcome->code != MCAST_NOT_FOUND) {
        flux_jobid_t id;
        flux_log(release->jobtap->flux, LOG_ERR, "mcast: %s is not released: %s", release->job,
                 outcome->error->text);
        if (outcome->code != MCAST_STOPPED && flux_job_id_parse(release->job, &id) == 0)
            event_post(release->jobtap, id, "unreleased", NULL, outcome->error->text);
    }
    free(release);
}

void jobtap_release(struct jobtap *jobtap, const char *job)
{
    struct release *release = malloc(sizeof *release + strlen(job) + 1);
    struct mcast_error error = {0};
    int rc = release ? mcast_async_set_timeout(jobtap->broker, RELEASE_MS, &error) : MCAST_NOMEM;
    if (release) {
        release->jobtap = jobtap;
        strcpy(release->job, job);
    }
    if (rc == 0)
        rc = mcast_async_release(jobtap->broker, jobtap->cluster, job, on_released, release, NULL,
                                 &error);
    if (rc == 0)
        return;
    flux_log(jobtap->flux, LOG_ERR, "mcast: %s is not released: %s", job, error.text);
    free(release);
}

/* ---- what the plugin is told when it is loaded ----
 *
 *   [job-manager]
 *   plugins = [{ load = "/usr/lib/mcastd/flux/mcast.so", conf = { cluster = "elcap" } }]
 *
 *   cluster    what mcastd.conf calls this Flux
 *   url        where mcastd is (MCAST_URL, or its default socket)
 *   `patience` s, how long a job's start may wait for mcastd (30)
 *   optional   true: jobs run without VNIs and multicast addresses when mcastd does not answer in
 *              that time (false)
 *   release_only   true: jobs that start are left alone, those that run are released (false) */

/* Keeps all but url, which is the plugin's; NULL: not said. False: why is in error. */
static bool read_settings(struct jobtap *jobtap, const char **url, struct mcast_error *error)
{
    flux_plugin_t *plugin = jobtap->plugin;
    const char *cluster = NULL;
    int retry_s = RETRY_S, optional = 0, release_only = 0;
    const size_t size = sizeof error->text;
    if (!flux_plugin_get_conf(plugin) ||
        flux_plugin_conf_unpack(plugin, "{s?s s?s s?i s?b s?b !}", "cluster", &cluster, "url", url,
                                "patience", &retry_s, "optional", &optional, "release_only",
                                &release_only) < 0)
        snprintf(error->text, size,
                 "its conf needs cluster = \"NAME\", and can have url, "
                 "patience" /* the key's name is a promise */
                 " (s), optional and release_only "
                 "(true or false): %s",
                 flux_plugin_get_conf(plugin) ? flux_plugin_strerror(plugin) : "it has none");
    else if (!cluster || !cluster_name_valid(cluster))
        snprintf(error->text, size,
                 "conf.cluster is what mcastd.conf calls this Flux: 1 to %d of a-z, 0-9 and _",
                 CLUSTER_NAME_MAX);
    else if (retry_s < 1 || retry_s > RETRY_MAX_S)
        snprintf(error->text, size, "conf.patience is 1 to %d seconds", RETRY_MAX_S);
    else if (!(jobtap->cluster = strdup(cluster)))
        snprintf(error->text, size, "memory is exhausted");
    jobtap->retry_timeout_ms = (unsigned)retry_s * 1000;
    jobtap->optional = optional;
    jobtap->release_only = release_only;
    return jobtap->cluster;
}

/* ---- the plugin ---- */

static void on_ready(flux_reactor_t *reactor, flux_watcher_t *watcher, int events, void *data)
{
    (void)reactor, (void)watcher, (void)events;
    mcast_async_dispatch(data);
}

static void destroy_jobtap(void *data)
{
    struct jobtap *jobtap = data;
    if (!jobtap)
        return;
    flux_watcher_destroy(jobtap->watcher);
    flux_watcher_destroy(jobtap->once_watcher);
    hold_give_up_all(jobtap);
    mcast_async_close(jobtap->broker);
    mcast_async_close(jobtap->once);
    query_destroy(jobtap->query);
    free(jobtap->cluster);
    free(jobtap);
}

static int open_async(struct jobtap *jobtap, struct mcast *handle, unsigned flags,
                      struct mcast_async **out, flux_watcher_t **watcher, struct mcast_error *error)
{
    int rc = mcast_async_open(out, handle, flags, error);
    if (rc == 0)
        rc = mcast_async_set_connections(*out, CONNECTIONS, error);
    if (rc < 0)
        return rc;
    *watcher = flux_fd_watcher_create(flux_get_reactor(jobtap->flux), mcast_async_fd(*out),
                                      FLUX_POLLIN, on_ready, *out);
    if (!*watcher) {
        strcpy(error->text, no_reactor);
        return MCAST_NOMEM;
    }
    flux_watcher_start(*watcher);
    return 0;
}

static int open_broker(struct jobtap *jobtap, const char *url, struct mcast_error *error)
{
    struct mcast *handle = NULL;
    int rc = mcast_open(&handle, url, error);
    if (rc == 0)
        rc = open_async(jobtap, handle, MCAST_PATIENT, &jobtap->broker, &jobtap->watcher, error);
    if (rc == 0)
        rc = open_async(jobtap, handle, 0, &jobtap->once, &jobtap->once_watcher, error);
    mcast_close(handle);
    return rc;
}

static bool create_jobtap(flux_plugin_t *plugin, struct mcast_error *error)
{
    const char *url = NULL;
    struct jobtap *jobtap = calloc(1, sizeof *jobtap);
    if (!jobtap) {
        strcpy(error->text, "memory is exhausted");
        return false;
    }
    jobtap->plugin = plugin;
    jobtap->flux = flux_jobtap_get_flux(plugin);
    if (!read_settings(jobtap, &url, error) || open_broker(jobtap, url, error) < 0)
        goto failed;
    jobtap->query = query_create(jobtap);
    if (!jobtap->query || flux_jobtap_service_register(plugin, "clean", hold_hear, jobtap) < 0 ||
        flux_plugin_aux_set(plugin, aux_name, jobtap, destroy_jobtap) < 0) {
        strcpy(error->text, no_reactor);
        goto failed;
    }
    return true;
failed:
    destroy_jobtap(jobtap);
    return false;
}

/* The first callback of a plugin that is loaded, and the one that can say in words why not. */
static int on_conf(flux_plugin_t *plugin, const char *topic, flux_plugin_arg_t *args, void *data)
{
    (void)topic, (void)data;
    struct mcast_error error = {0};
    /* Its conf does not change while it is loaded. */
    if (flux_plugin_aux_get(plugin, aux_name) || create_jobtap(plugin, &error))
        return 0;
    return flux_jobtap_error(plugin, args, "mcast: %s", error.text);
}

static int on_query(flux_plugin_t *plugin, const char *topic, flux_plugin_arg_t *args, void *data)
{
    (void)topic, (void)data;
    const struct jobtap *jobtap = flux_plugin_aux_get(plugin, aux_name);
    return query_answer(jobtap->query, args);
}

struct job_event {
    void (*run)(struct jobtap *jobtap, flux_plugin_arg_t *args);
};

/* data: a struct job_event. */
static int on_job(flux_plugin_t *plugin, const char *topic, flux_plugin_arg_t *args, void *data)
{
    (void)topic;
    ((const struct job_event *)data)->run(flux_plugin_aux_get(plugin, aux_name), args);
    return 0;
}

__attribute__((visibility("default"))) int flux_plugin_init(flux_plugin_t *plugin)
{
    static struct job_event adopt = {hold_adopt}, begin = {hold_begin}, finish = {hold_finish},
                            clean_up = {hold_clean_up};
    static const struct flux_plugin_handler handlers[] = {
        {"conf.update", on_conf, NULL},
        {"job.new", on_job, &adopt},
        {"job.state.run", on_job, &begin},
        {"job.event.finish", on_job, &finish},
        {"job.state.cleanup", on_job, &clean_up},
        {"plugin.query", on_query, NULL},
        {0},
    };
    return flux_plugin_register(plugin, "mcast", handlers);
}
