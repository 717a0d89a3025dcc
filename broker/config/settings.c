/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/settings.h"

#include <assert.h>

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

bool settings_fabric(const struct config *config, struct fmapi_options *out)
{
    static const enum fmapi_auth auths[] = {[CONFIG_AUTH_BASIC] = FMAPI_AUTH_BASIC,
                                            [CONFIG_AUTH_OAUTH] = FMAPI_AUTH_OAUTH,
                                            [CONFIG_AUTH_NONE] = FMAPI_AUTH_NONE};
    static_assert((int)FMAPI_URLS_MAX == (int)FM_URLS_MAX, "as many URLs as the core knows");
    *out = (struct fmapi_options){
        .auth = auths[config->fm_auth],
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
    return config->core.fm_present;
}
