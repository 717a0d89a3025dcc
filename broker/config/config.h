/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "core/inventory/nicbook.h"
#include "fmapi/fmapi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* mcastd's configuration: what the files say, checked and complete.
 *
 * The keys, their types, defaults, ranges and sentences stand in one table (keys.inc), from
 * which the parser, --help-config and the sample file are made. Texts that are unset are "". */

#define CONFIG_DEFAULT_PATH "/etc/mcastd/mcastd.conf"

enum { CONFIG_PATH_SIZE = 1024, CONFIG_STATUSES_MAX = 16, ETCD_ENDPOINTS_MAX = 8 };

enum config_store { CONFIG_STORE_SQLITE, CONFIG_STORE_MEMORY, CONFIG_STORE_ETCD };

enum config_through { CONFIG_THROUGH_SITE, CONFIG_THROUGH_DIRECT, CONFIG_THROUGH_RELAY };

enum config_inventory { CONFIG_INVENTORY_FM, CONFIG_INVENTORY_FILE, CONFIG_INVENTORY_OFF };

enum config_limit { CONFIG_LIMIT_CUT, CONFIG_LIMIT_REFUSE };

struct config_cluster {
    char name[CLUSTER_NAME_MAX + 1];
    char **users; /* NULL-terminated: names, numeric uids or cert:NAME; NULL when unset */
    char nodes[CONFIG_PATH_SIZE]; /* host list of its nodes; "" when unset */
    uint32_t budget;
    int interconnect;                    /* enum interconnect_kind */
    int through;                         /* enum config_through */
    char plugin_login[CONFIG_PATH_SIZE]; /* "": its Slurm has no login here */
    int plugin_limit;                    /* enum config_limit */
    char **list_command;                 /* path and arguments, NULL-terminated; NULL when unset */
    int64_t list_every_ms, list_timeout_ms;
};

/* Where a value is the site's default, it is as in struct profile_config (core/config.h). */
struct config_profile {
    char name[PROFILE_NAME_MAX + 1];
    char description[256];
    char **clusters; /* NULL-terminated; NULL when unset: of all */
    int vnis, hwcoll, interconnect;
    uint32_t traffic_classes, addresses;
};

/* A file whose contents count as configuration (change.h). */
struct config_file_status {
    const struct config_key *key; /* whose value names it */
    const char *name;             /* below that folder; NULL: the value is the file */
    struct stat status;           /* all zero: it is not there */
};

struct config {
    struct core_config core; /* complete after config_load */

    char socket[108]; /* what fits into sockaddr_un */
    uint32_t socket_mode;
    char socket_group[64];
    char listen[256]; /* "HOST:PORT"; TLS unless it is loopback and there is no tls_cert */
    char tls_cert[CONFIG_PATH_SIZE], tls_key[CONFIG_PATH_SIZE], tls_client_ca[CONFIG_PATH_SIZE];
    char munge_socket[108];                 /* of munged; "": MUNGE credentials are not taken */
    char launch_key_file[CONFIG_PATH_SIZE]; /* "": launch documents are MUNGE credentials */
    char advertise[256];                    /* URL for clients while it leads; "": none */
    char **admins;                          /* as config_cluster.users */
    char **metrics_users;                   /* the same; NULL when unset */
    bool metrics_anonymous;
    char **shared_users;                  /* the same: who may make shared VNIs */
    char root_key_file[CONFIG_PATH_SIZE]; /* "": none, for CONFIG_STORE_MEMORY and _ETCD */
    uint32_t connections_max;
    int log_level; /* as syslog.h */

    int store; /* enum config_store */
    char state_path[CONFIG_PATH_SIZE];
    char state_key_file[CONFIG_PATH_SIZE];
    char etcd_endpoints[ETCD_ENDPOINTS_MAX][FM_URL_SIZE]; /* unused ones "" */
    char etcd_prefix[128];
    char etcd_ca[CONFIG_PATH_SIZE], etcd_cert[CONFIG_PATH_SIZE], etcd_key[CONFIG_PATH_SIZE];
    char etcd_user[128], etcd_password_file[CONFIG_PATH_SIZE];
    int64_t etcd_lease_ms;

    int hwcoll_through;     /* enum config_through, of clusters that do not say */
    char front_listen[256]; /* as listen */

    int fm_auth; /* enum fmapi_auth */
    char fm_authdir[CONFIG_PATH_SIZE];
    char fm_ca[512]; /* handed to jobs too: as long as core_config.job_ca */
    char fm_mtls_cert[CONFIG_PATH_SIZE], fm_mtls_key[CONFIG_PATH_SIZE];
    bool fm_verify;

    int inventory_source; /* enum config_inventory */
    char inventory_file[CONFIG_PATH_SIZE];
    int64_t inventory_poll_ms;
    struct nicbook *nicbook; /* what that file says; NULL: there is none */
    bool nicbook_unread;     /* it could not be read, or not to its end */

    struct config_cluster clusters[CLUSTERS_MAX + 1]; /* behind the core.cluster_count first:
                                                         defaults, so always in the last */

    struct config_profile profiles[PROFILES_MAX + 1]; /* core.profile_count, and so on */

    struct config_file_status files[CONFIG_STATUSES_MAX];
    size_t file_count; /* 0: not read yet */
};

/* The defaults. Never NULL (base/memory.h). */
struct config *config_create(void);
void config_destroy(struct config *config); /* NULL is allowed */

/* NULL: none is configured under this name. */
const struct config_cluster *config_cluster_find(const struct config *config, const char *name);

/* The same of a profile. */
const struct config_profile *config_profile_find(const struct config *config, const char *name);

/* Files in fm_authdir that the login consists of, NULL-terminated. */
const char *const *config_login_files(const struct config *config);

/* Hears of every fault and warning, each as one line "file:line: what is wrong, what is allowed".
 */
typedef void config_report_fn(void *arg, bool fault, const char *line);
struct config_reading;
typedef void config_look_fn(struct config_reading *reading);
static const uid_t CONFIG_ANY_OWNER = (uid_t)-1;

/* Reads the file at path and then, in alphabetical order, the *.conf in the folder conf.d beside
 * it; what is read later overrides. Then checks whether it fits together. Goes on after a fault, so
 * that all are reported at once. 0, or ERROR_INVALID when there was a fault. Once for each config.
 *
 * user: whose service it is for: what others than root and this user can change is no
 * configuration, neither a file nor the folder conf.d (B8). When all could be read and each value
 * is allowed, look, if it is not NULL, reports what else is wrong (file.h). report may be NULL. */
int config_load(struct config *config, const char *path, uid_t user, config_look_fn *look,
                config_report_fn *report, void *arg);

/* All keys with type, range, default and sentence; a file to begin with; mcastd.conf(5) in roff. */
void config_print_help(FILE *out);
void config_print_sample(FILE *out);
void config_print_man(FILE *out);
