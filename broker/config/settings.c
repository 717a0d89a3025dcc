/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/settings.h"

#include "base/memory.h"
#include "broker/config/value.h"

#include <assert.h>
#include <stdlib.h>

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void write_shared(FILE *out, enum config_place place, const char *of, const void *base)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].host || config_key_place(&keys[i]) != place)
            continue;
        char *text = config_value_text(&keys[i], base);
        fprintf(out, "%s %s = %s\n", of ? of : keys[i].section, keys[i].name, text);
        free(text);
    }
}

char *settings_shared(const struct config *config)
{
    char *text = NULL;
    size_t size;
    FILE *out = memory_must(open_memstream(&text, &size));
    write_shared(out, CONFIG_PLAIN, NULL, config);
    for (uint32_t i = 0; i < config->core.cluster_count; i++)
        write_shared(out, CONFIG_CLUSTER, config->clusters[i].name, &config->clusters[i]);
    for (uint32_t i = 0; i < config->core.profile_count; i++)
        write_shared(out, CONFIG_PROFILE, config->profiles[i].name, &config->profiles[i]);
    if (fclose(out) != 0)
        (void)memory_must(NULL);
    return text;
}

struct etcd_options settings_etcd(const struct config *config,
                                  const char *endpoints[ETCD_ENDPOINTS_MAX])
{
    size_t count = 0;
    for (; count < ETCD_ENDPOINTS_MAX && config->etcd_endpoints[count][0] != '\0'; count++)
        endpoints[count] = config->etcd_endpoints[count];
    return (struct etcd_options){
        .endpoints = endpoints,
        .endpoint_count = count,
        .prefix = config->etcd_prefix,
        .ca = or_null(config->etcd_ca),
        .cert = or_null(config->etcd_cert),
        .key = or_null(config->etcd_key),
        .user = or_null(config->etcd_user),
        .password_file = or_null(config->etcd_password_file),
        .key_file = config->state_key_file,
        .advertise = config->advertise,
        .version = MCAST_VERSION,
        .fabric = config->core.fm_urls,
        .fabric_count = config->core.fm_url_count,
        .state_path = config->state_path,
        .lease_ms = config->etcd_lease_ms,
    };
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
