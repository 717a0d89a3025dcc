/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/file.h"
#include "broker/config/nodefile.h"

#include "base/nodelist.h"
#include "core/reservation/sizing.h"
#include "fmapi/wire/baseurl.h"
#include "trust/trustedpath.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FAULT(section, key, ...)                                                                   \
    config_fault(reading, true, config_origin(reading, section, key), __VA_ARGS__)
#define WARN(section, key, ...)                                                                    \
    config_fault(reading, false, config_origin(reading, section, key), __VA_ARGS__)

static bool is_number(const char *text)
{
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Of a user or group: the kernel's own id for "none" is none, nor is a greater number (B8). */
static bool is_id(const char *number)
{
    errno = 0;
    unsigned long id = strtoul(number, NULL, 10);
    return errno == 0 && id < UINT32_MAX;
}

/* The certificate need not exist yet. */
static void check_certificate_name(struct config_reading *reading,
                                   const struct config_origin *origin, const char *name)
{
    if (name[0] == '\0')
        config_fault(
            reading, true, origin,
            "after cert: the name in the certificate is missing: cert:NAME, without a blank");
    else if (reading->config->tls_client_ca[0] == '\0')
        config_fault(reading, false, origin,
                     "cert:%s matches no client: without tls_client_ca in [broker] no certificate "
                     "is accepted",
                     name);
}

/* Every user of another user namespace has this uid here. */
static bool is_nobody(const char *user, uid_t uid)
{
    enum { USUAL = 65534 };
    return strcmp(user, "nobody") == 0 || uid == USUAL || uid == trustedpath_overflowuid();
}

static void check_user(struct config_reading *reading, const struct config_origin *origin,
                       const char *user)
{
    const struct passwd *found = is_number(user) ? NULL : getpwnam(user);
    if (!is_number(user) && !found)
        config_fault(reading, true, origin,
                     "user %s is not known on this host: create it, or give its numeric uid", user);
    else if (is_number(user) && !is_id(user))
        config_fault(reading, true, origin,
                     "user %s: no user can have this uid, which is more than %u: give the user's "
                     "name, or the uid that `id -u NAME` shows",
                     user, UINT32_MAX - 1);
    else if (is_nobody(user, found ? found->pw_uid : (uid_t)strtoul(user, NULL, 10)))
        config_fault(reading, true, origin,
                     "user %s stands for every user, of containers and of NFS, that the kernel "
                     "cannot name: name a user of its own",
                     user);
}

static void check_users(struct config_reading *reading, const struct config_origin *origin,
                        char *const *users)
{
    for (; users && *users; users++) {
        if (strncmp(*users, "cert:", 5) == 0)
            check_certificate_name(reading, origin, *users + 5);
        else
            check_user(reading, origin, *users);
    }
}

/* libfabric waits for ever for an authority file that does not exist (fabric-manager.md). */
static void check_files_exist(struct config_reading *reading)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        struct stat found;
        if ((keys[i].file & CONFIG_FILE_EXISTS) == 0)
            continue;
        const char *path = config_key_path(&keys[i], reading->config);
        if (path[0] == '/' && stat(path, &found) < 0)
            FAULT(keys[i].section, keys[i].name, "%s = %s: %s", keys[i].name, path,
                  strerror(errno));
    }
}

/* Of a certificate and its key, neither is of use alone. */
static void require_both(struct config_reading *reading, const char *section, const char *key,
                         const char *path, const char *other)
{
    const char *other_path = config_key_path(config_key_find(section, other), reading->config);
    if (path[0] != '\0' && other_path[0] == '\0')
        FAULT(section, key, "%s is set but %s is not: both are needed", key, other);
}

static bool is_loopback(const char *listen)
{
    return strncmp(listen, "127.", 4) == 0 || strncmp(listen, "[::1]", 5) == 0 ||
           strncmp(listen, "localhost:", 10) == 0;
}

static void check_listen(struct config_reading *reading, const char *section, const char *listen)
{
    if (listen[0] != '\0' && reading->config->tls_cert[0] == '\0' && !is_loopback(listen))
        FAULT(section, "listen",
              "unencrypted connections are allowed on loopback only: set tls_cert and tls_key, or "
              "listen on 127.0.0.1, [::1] or localhost");
}

static void check_tcp(struct config_reading *reading)
{
    const struct config *config = reading->config;
    require_both(reading, "broker", "tls_cert", config->tls_cert, "tls_key");
    require_both(reading, "broker", "tls_key", config->tls_key, "tls_cert");
    check_listen(reading, "broker", config->listen);
    check_listen(reading, "front", config->front_listen);
    if (config->listen[0] == '\0' && config->front_listen[0] == '\0' &&
        config->tls_cert[0] != '\0' && config->tls_key[0] != '\0')
        WARN("broker", "tls_cert",
             "the certificate is not used: set listen too, or leave both out");
    if (config->tls_client_ca[0] != '\0' && config->tls_cert[0] == '\0')
        FAULT("broker", "tls_client_ca",
              "clients show certificates only over TLS: set tls_cert and tls_key");
}

static void check_socket(struct config_reading *reading)
{
    const struct config *config = reading->config;
    if (is_number(config->socket_group) && !is_id(config->socket_group))
        FAULT("broker", "socket_group",
              "group %s: no group can have this gid, which is more than %u: give the group's name, "
              "or the gid that `getent group NAME` shows",
              config->socket_group, UINT32_MAX - 1);
    else if (config->socket_group[0] != '\0' && !is_number(config->socket_group) &&
             !getgrnam(config->socket_group))
        FAULT("broker", "socket_group",
              "group %s is not known on this host: create it, or give its numeric gid",
              config->socket_group);
    check_users(reading, config_origin(reading, "broker", "admins"), config->admins);
    check_users(reading, config_origin(reading, "broker", "metrics_users"), config->metrics_users);
    check_users(reading, config_origin(reading, "vni", "shared_users"), config->shared_users);
    struct stat found;
    if (config->munge_socket[0] != '\0' && stat(config->munge_socket, &found) < 0)
        WARN("broker", "munge_socket",
             "munge_socket = %s: %s; credentials are refused until munged makes it",
             config->munge_socket, strerror(errno));
}

static bool all_plain(const struct config *config)
{
    uint32_t i = 0;
    while (i < config->core.fm_url_count && strncmp(config->core.fm_urls[i], "http:", 5) == 0)
        i++;
    return i > 0 && i == config->core.fm_url_count;
}

static void settle_job_ca(struct config *config)
{
    char *job_ca = config->core.job_ca;
    const char *job_url = config->core.job_url;
    if (strcmp(job_ca, "auto") != 0)
        return;
    bool plain = job_url[0] != '\0' ? strncmp(job_url, "http:", 5) == 0 : all_plain(config);
    const char *settled = plain ? "no" : config->fm_ca[0] != '\0' ? config->fm_ca : "yes";
    (void)snprintf(job_ca, sizeof config->core.job_ca, "%s", settled);
}

/* Slurm's folders: sites have them already (fabric-manager.md, "Login"). */
static void settle_authdir(struct config *config)
{
    if (config->fm_authdir[0] == '\0')
        (void)snprintf(config->fm_authdir, sizeof config->fm_authdir, "%s",
                       config->fm_auth == FMAPI_AUTH_OAUTH ? "/etc/wlm-client-auth" : "/etc/fmsim");
}

/* Beside the ledger: both are written while the broker runs. */
static void settle_root_key_file(struct config *config)
{
    const char *slash = strrchr(config->state_path, '/');
    if (config->store != CONFIG_STORE_SQLITE) /* etcd: in the ledger, for all brokers */
        config->root_key_file[0] = '\0';
    else if (config->root_key_file[0] == '\0' && slash)
        (void)snprintf(config->root_key_file, sizeof config->root_key_file, "%.*s/root.keys",
                       (int)(slash - config->state_path), config->state_path);
}

/* ---- several brokers ---- */

/* What all brokers say of themselves must hold for clients on other hosts. */
static void check_advertise(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const char *url = config->advertise;
    struct error err = {0};
    if (url[0] == '\0') {
        FAULT("state", "store",
              "store = etcd needs [broker] advertise, where clients find this broker while it "
              "leads");
    } else if (strncmp(url, "unix:/", 6) == 0) {
        WARN("broker", "advertise", "%s: only clients of this host can follow to it", url);
    } else if (baseurl_check(url, "advertise", &err) < 0) {
        FAULT("broker", "advertise", "%s; or unix:/PATH", err.text);
    } else if (strncmp(url, "http:", 5) == 0) {
        config_fault(reading, !baseurl_private(url), config_origin(reading, "broker", "advertise"),
                     "%s: clients %s", url,
                     baseurl_private(url) ? "of other hosts cannot follow to it"
                                          : "use http for this host only: give an https URL");
    } else if (config->listen[0] == '\0' || config->tls_cert[0] == '\0') {
        FAULT("broker", "advertise",
              "%s: nothing answers there, as listen and tls_cert are not both set", url);
    }
}

static void check_endpoints(struct config_reading *reading)
{
    const struct config *config = reading->config;
    if (config->etcd_endpoints[0][0] == '\0')
        FAULT("state", "store", "store = etcd needs endpoints, the URLs of etcd's members");
    for (size_t i = 0; i < ETCD_ENDPOINTS_MAX && config->etcd_endpoints[i][0] != '\0'; i++)
        if (!baseurl_private(config->etcd_endpoints[i]))
            WARN("state", "endpoints",
                 "%s: with http ANYONE on the network path can read and change the ledger, but for "
                 "its sealed secrets; use https",
                 config->etcd_endpoints[i]);
}

static void check_etcd(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const size_t length = strlen(config->etcd_prefix);
    require_both(reading, "state", "cert", config->etcd_cert, "key");
    require_both(reading, "state", "key", config->etcd_key, "cert");
    require_both(reading, "state", "user", config->etcd_user, "password_file");
    require_both(reading, "state", "password_file", config->etcd_password_file, "user");
    if (config->store != CONFIG_STORE_ETCD) {
        if (config->etcd_endpoints[0][0] != '\0')
            WARN("state", "endpoints", "endpoints are not used: store is not etcd");
        return;
    }
    if (length < 2 || config->etcd_prefix[length - 1] == '/')
        FAULT("state", "prefix", "prefix = %s: it must name something and not end with a slash",
              config->etcd_prefix);
    check_endpoints(reading);
    check_advertise(reading);
}

/* A job sends its session token to the given address, with every tree that it makes. */
static void check_job_url(struct config_reading *reading)
{
    const struct core_config *core = &reading->config->core;
    bool own = core->job_url[0] != '\0', https = false;
    for (uint32_t i = 0; i < (own ? 1 : core->fm_url_count); i++) {
        const char *url = own ? core->job_url : core->fm_urls[i];
        https = https || strncmp(url, "https:", 6) == 0;
        if (!baseurl_private(url))
            config_fault(reading, true,
                         own ? config_origin(reading, "hwcoll", "job_url")
                             : config_origin(reading, "fm", "url"),
                         "%s: with http the session tokens of jobs cross the network unencrypted: "
                         "use https, or give jobs another address with [hwcoll] job_url",
                         url);
    }
    if (https && strcmp(core->job_ca, "no") == 0)
        WARN("hwcoll", "job_ca",
             "job_ca = no: ANYONE on the network path can impersonate the fabric manager and read "
             "the session tokens of jobs; set it to yes, or to a CA file");
}

/* Slurm's own plugin needs a place to log in; and gives VNIs, which this broker does not know of.
 */
static void check_plugins(struct config_reading *reading)
{
    const struct config *config = reading->config;
    const char *plugin = NULL, *other = NULL;
    for (uint32_t i = 0; i < config->core.cluster_count; i++) {
        const struct config_cluster *cluster = &config->clusters[i];
        if (cluster->plugin_login[0] != '\0')
            plugin = cluster->name;
        else
            other = cluster->name;
    }
    if (plugin && (config->front_listen[0] == '\0' || config->core.relay_url[0] == '\0'))
        FAULT("front", "listen",
              "[cluster \"%s\"] plugin_login: set listen in [front], where its Slurm logs in, and "
              "url, which is its fm_url",
              plugin);
    if (plugin && other && config_origin(reading, "vni", "pool")->file == 0)
        WARN("vni", "pool",
             "cluster \"%s\" gets VNIs from here, and the Slurm of \"%s\" gives its own: set pool "
             "to "
             "some that vnis= in its SwitchParameters does not have",
             other, plugin);
}

/* A relayed job sends its token there. */
static void check_front(struct config_reading *reading)
{
    struct core_config *core = &reading->config->core;
    const bool plain = strncmp(core->relay_url, "http:", 5) == 0;
    bool relay = reading->config->hwcoll_through == CONFIG_THROUGH_RELAY;
    for (uint32_t i = 0; i < core->cluster_count; i++)
        relay = relay || core->clusters[i].relay;
    if (strcmp(core->relay_ca, "auto") == 0)
        (void)snprintf(core->relay_ca, sizeof core->relay_ca, plain ? "no" : "yes");
    if (relay && (core->relay_url[0] == '\0' || reading->config->front_listen[0] == '\0'))
        FAULT("hwcoll", "through",
              "through = relay needs [front] listen, where jobs ask, and [front] url, which they "
              "are told");
    if (core->relay_url[0] != '\0' && !baseurl_private(core->relay_url))
        FAULT("front", "url",
              "%s: with http the tokens of jobs cross the network unencrypted: use https",
              core->relay_url);
    if (!plain && strcmp(core->relay_ca, "no") == 0)
        WARN("front", "job_ca",
             "job_ca = no: ANYONE on the network path can impersonate this broker and read the "
             "tokens of jobs; set it to yes, or to a CA file");
}

static void check_login(struct config_reading *reading)
{
    const struct config *config = reading->config;
    for (uint32_t i = 0; i < config->core.fm_url_count; i++) {
        const char *url = config->core.fm_urls[i];
        if (!baseurl_private(url))
            WARN("fm", "url", "%s: with http the login crosses the network unencrypted", url);
    }
    if (config->fm_mtls_cert[0] != '\0' && config->core.job_url[0] == '\0')
        WARN("fm", "mtls_cert",
             "libfabric has no client certificate to show: if the fabric manager demands one, jobs "
             "need another address of it, which does not: [hwcoll] job_url");
    /* Over plain http there is no other choice. */
    if (config->fm_auth == FMAPI_AUTH_NONE && config->fm_mtls_cert[0] == '\0' && !all_plain(config))
        WARN("fm", "auth",
             "auth = none without mtls_cert: the fabric manager is asked without any login");
}

/* sound: all that was set could be read. Else what seems to be missing may be in a faulty line. */
static void check_fm(struct config_reading *reading, bool sound)
{
    const struct config *config = reading->config;
    struct error err = {0};
    uint32_t addresses;

    require_both(reading, "fm", "mtls_cert", config->fm_mtls_cert, "mtls_key");
    require_both(reading, "fm", "mtls_key", config->fm_mtls_key, "mtls_cert");
    if (!config->fm_verify)
        WARN("fm", "verify",
             "verify = no: ANYONE on the network path can impersonate the fabric manager and read "
             "its login; set ca instead");
    if (!config->core.fm_present) {
        if (config->core.min_nodes > 0 && sound)
            WARN("hwcoll", "min_nodes",
                 "min_nodes is set but [fm] url is not: no job gets multicast addresses");
        return;
    }
    if (config->core.min_nodes == 0 && sound &&
        sizing_addresses(&config->core, &addresses, &err) < 0)
        WARN("hwcoll", "addresses_per_job",
             "no job can get multicast addresses, not even one that asks: %s", err.text);
    check_login(reading);
    check_job_url(reading);
}

static void check_cluster(struct config_reading *reading, uint32_t i)
{
    const struct config *config = reading->config;
    const struct config_cluster *cluster = &config->clusters[i];
    struct error err = {0};
    uint32_t nodes, total = config->core.total_addresses;
    check_users(reading, config_cluster_origin(reading, i, "users"), cluster->users);
    if ((!cluster->users || !cluster->users[0]) && cluster->plugin_login[0] == '\0')
        config_fault(reading, false, &reading->sections[i],
                     "cluster \"%s\" has no users: only admins can reserve for it", cluster->name);
    if (cluster->nodes[0] != '\0' && nodelist_count(cluster->nodes, &nodes, &err) < 0)
        config_fault(reading, true, config_cluster_origin(reading, i, "nodes"), "nodes = %.80s: %s",
                     cluster->nodes, err.text);
    if (cluster->interconnect == INTERCONNECT_OMNIPATH && config->core.omnipath.pkeys.count == 0)
        config_fault(reading, false, config_cluster_origin(reading, i, "interconnect"),
                     "interconnect = omnipath without partition_keys in [omnipath]: on the fabric "
                     "nothing keeps two jobs of one user apart");
    if (total > 0 && cluster->budget > total)
        config_fault(reading, false, config_cluster_origin(reading, i, "budget"),
                     "budget = %u limits nothing: total_addresses in [hwcoll] is %u",
                     (unsigned)cluster->budget, (unsigned)total);
}

/* Which clusters' jobs may name it; 0 for none that is configured. */
static uint64_t profile_clusters(struct config_reading *reading, uint32_t profile)
{
    const struct config *config = reading->config;
    uint64_t bits = 0;
    char *const *names = config->profiles[profile].clusters;
    for (; names && *names; names++) {
        const struct config_cluster *cluster = config_cluster_find(config, *names);
        if (cluster)
            bits |= UINT64_C(1) << (cluster - config->clusters);
        else
            config_fault(reading, true, config_profile_origin(reading, profile, "clusters"),
                         "clusters: there is no [cluster \"%.40s\"]: name those that may use the "
                         "profile",
                         *names);
    }
    return config->profiles[profile].clusters ? bits : UINT64_MAX;
}

static void settle_profiles(struct config_reading *reading)
{
    struct config *config = reading->config;
    for (uint32_t i = 0; i < config->core.profile_count; i++) {
        struct profile_config *to = &config->core.profiles[i];
        const struct config_profile *from = &config->profiles[i];
        *to = (struct profile_config){.clusters = profile_clusters(reading, i),
                                      .vni_count = from->vnis,
                                      .interconnect = from->interconnect,
                                      .wish = from->hwcoll,
                                      .classes = from->traffic_classes,
                                      .addresses = from->addresses};
        memcpy(to->name, from->name, sizeof to->name);
    }
}

static void check_clusters(struct config_reading *reading)
{
    const struct config *config = reading->config;
    uint32_t count = config->core.cluster_count;
    if (count == 0)
        config_fault(
            reading, false, NULL,
            "no cluster is configured, so every reservation is refused: add [cluster \"NAME\"]");
    for (uint32_t i = 0; i < count; i++) {
        const struct config_cluster *cluster = &config->clusters[i];
        check_cluster(reading, i);
        for (uint32_t j = 0; j < count; j++) {
            const char *shorter = config->clusters[j].name;
            if (i != j && strncmp(cluster->name, shorter, strlen(shorter)) == 0)
                config_fault(reading, false, &reading->sections[i],
                             "cluster \"%s\" begins with the name of cluster \"%s\": if that is a "
                             "Slurm cluster which talks to the fabric manager itself, it deletes "
                             "this one's reservations; rename one of them",
                             cluster->name, shorter);
        }
    }
}

void config_check(struct config_reading *reading)
{
    struct config *config = reading->config;
    struct error err = {0};
    bool sound = reading->faults == 0;
    for (uint32_t i = 0; i < config->core.cluster_count; i++) {
        struct cluster_config *to = &config->core.clusters[i];
        const struct config_cluster *from = &config->clusters[i];
        memcpy(to->name, from->name, sizeof to->name);
        to->budget = from->budget;
        to->interconnect = from->interconnect;
        to->relay =
            (from->through ? from->through : config->hwcoll_through) == CONFIG_THROUGH_RELAY;
        to->plugin = from->plugin_login[0] != '\0';
        to->limit_refused = from->plugin_limit == CONFIG_LIMIT_REFUSE;
        to->jobpoll = from->list_command;
        to->jobpoll_every_ms = from->list_every_ms;
    }
    while (config->core.fm_url_count < FM_URLS_MAX &&
           config->core.fm_urls[config->core.fm_url_count][0] != '\0')
        config->core.fm_url_count++;
    config->core.fm_present = config->core.fm_url_count > 0;
    settle_profiles(reading);
    settle_authdir(config);
    settle_root_key_file(config);

    check_socket(reading);
    check_files_exist(reading);
    check_tcp(reading);
    check_etcd(reading);
    check_fm(reading, sound);
    check_front(reading);
    check_plugins(reading);
    check_clusters(reading);
    nodefile_load(reading);
    settle_job_ca(config);
    if (core_config_check(&config->core, &err) < 0)
        config_fault(reading, true, NULL, "%s", err.text);
}
