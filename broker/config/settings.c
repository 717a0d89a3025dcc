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
