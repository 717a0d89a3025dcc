/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_DEPLOY_SLURM_SPANK_PLACE_H
#define MCAST_DEPLOY_SLURM_SPANK_PLACE_H

/* Where our programs lie: at the prefix at which the plugin itself was installed, whichever was
 * configured. That the loader knows; no variable of a user's environment has a say. */

enum { PLACE_SIZE = 1024 };

struct place {
    char mcastctl[PLACE_SIZE], mcast_node[PLACE_SIZE], mcast_cleanup[PLACE_SIZE];
};

/* plugin: its file, links are followed. A program that is not where it should be from there, as
 * with a plugin that was copied elsewhere, is looked for where it was configured to be. */
void place_find(struct place *place, const char *plugin);

/* The file that this code was loaded from; "" where the loader does not say. */
const char *place_of_plugin(void);

#endif
