/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/ha/haschedule.h"

/* Faults of the network between brokers, members and the fabric manager; from leader_unplugged on
 * they need hosts (units.h), and are skipped without. */

hafault_strike leader_cut, leader_unheard, leader_deaf, links_torn, one_link_cut, standby_cut,
    links_reset, links_slow, leader_unplugged, leaders_host_lost, members_host_lost, member_cut,
    members_link_cut, fabric_manager_cut, network_split, frames_lost;
