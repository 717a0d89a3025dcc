# SPDX-License-Identifier: Apache-2.0
mcast_unit(cli_release cli)
mcast_unit(cli_findings cli)
mcast_unit(cli_program cli)
mcast_unit(cli_manager cli)
mcast_unit(cli_places cli)
mcast_unit(cli_plugin cli)
mcast_unit(cli_software cli rig)
mcast_unit(cli_door cli)
