mcast_unit(cli_release cli)
mcast_unit(cli_findings cli)
mcast_unit(cli_program cli)
