/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/settings.h"

#include <assert.h>

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

const struct fmapi_options *settings_fabric(const struct config *config, struct fmapi_options *out)
{
    static_assert((int)FMAPI_URLS_MAX == (int)FM_URLS_MAX, "as many URLs as the core knows");
    *out = (struct fmapi_options){
        .auth = (enum fmapi_auth)config->fm_auth,
        .authdir = config->fm_authdir,
        .mtls_cert = or_null(config->fm_mtls_cert),
        .mtls_key = or_null(config->fm_mtls_key),
        .ca = or_null(config->fm_ca),
        .verify = config->fm_verify,
        .timeout_ms = config->core.call_timeout_ms,
        .parallel = config->core.calls_at_once,
    };
    for (uint32_t i = 0; i < config->core.fm_url_count; i++)
        out->urls[i] = config->core.fm_urls[i];
    return config->core.fm_present ? out : NULL;
}

static const char *const *names_of(char *const *users)
{
    static const char *const no_names[] = {NULL};
    return users ? (const char *const *)users : no_names;
}

void settings_http(const struct config *config, struct settings_http *out)
{
    for (uint32_t i = 0; i < config->core.cluster_count; i++) {
        out->clusters[i] = (struct http_cluster){
            .name = config->clusters[i].name,
            .users = names_of(config->clusters[i].users),
            .nodes = or_null(config->clusters[i].nodes),
        };
    }
    out->options = (struct http_options){
        .socket_path = config->socket,
        .socket_mode = config->socket_mode,
        .socket_group = or_null(config->socket_group),
        .listen = or_null(config->listen),
        .tls_cert = or_null(config->tls_cert),
        .tls_key = or_null(config->tls_key),
        .tls_client_ca = or_null(config->tls_client_ca),
        .munge_socket = or_null(config->munge_socket),
        .admins = names_of(config->admins),
        .metrics_users = names_of(config->metrics_users),
        .clusters = out->clusters,
        .cluster_count = config->core.cluster_count,
        .metrics_anonymous = config->metrics_anonymous,
        .connections_max = config->connections_max,
    };
}
