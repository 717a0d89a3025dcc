# The library's inner parts, without its exported shell.
mcast_unit(client_endpoint client)
mcast_unit(client_names client)
mcast_unit(client_sse client)
mcast_unit(client_problem client)
mcast_unit(client_reservation client)
mcast_unit(client_event client)
mcast_unit(client_credentials client)
mcast_unit(client_token client)
