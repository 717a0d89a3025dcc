/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FLUX_HOLD_H
#define MCAST_FLUX_HOLD_H

/* What the plugin does for one job: holds its start until its reservation is made and published,
 * and gives that back when the job has ended. All in the job manager's callbacks, none of which
 * waits. */

#include "deploy/flux/jobtap/jobtap.h"

/* The job got its resources (job.state.run): asks for what its jobspec wants. A job that cannot
 * have what it needs gets a fatal exception with our sentence. */
void hold_begin(struct jobtap *jobtap, flux_plugin_arg_t *args);

/* A job that has been running since before the plugin was loaded: only its end is seen to. */
void hold_adopt(struct jobtap *jobtap, flux_plugin_arg_t *args);

/* Its processes have ended (job.event.finish). */
void hold_finish(struct jobtap *jobtap);

/* It is over (job.state.cleanup): one that never started has no finish. */
void hold_clean_up(struct jobtap *jobtap);

/* The plugin is unloaded: gives up what is under way. Jobs whose start is held stay held, as with
 * any prolog of a plugin that goes. */
void hold_give_up_all(struct jobtap *jobtap);

#endif
