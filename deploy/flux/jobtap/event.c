/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/event.h"

#include <errno.h>
#include <string.h>

/* Those at the job's start. */
static bool has_vnis(const char *status)
{
    return strcmp(status, "releasing") != 0 && strcmp(status, "unreleased") != 0;
}

void event_post(struct jobtap *jobtap, flux_jobid_t id, const char *status, const json_t *more,
                const char *reason)
{
    json_t *context = json_pack("{s:s}", "status", status);
    if (context && more)
        json_object_update_missing(context, (json_t *)more);
    if (context)
        json_object_del(context, "summary"); /* which says the same */
    if (context && has_vnis(status) && !json_object_get(context, "vnis"))
        json_object_set_new(context, "vnis", json_array());
    if (context && reason)
        json_object_set_new(context, "reason", json_string(reason));
    if (!context)
        errno = ENOMEM;
    if ((!context || flux_jobtap_event_post_pack(jobtap->plugin, id, "mcast", "O", context) < 0) &&
        errno != ENOENT)
        flux_log_error(jobtap->flux, "mcast: no event \"%s\" can be posted", status);
    json_decref(context);
}
