mcast_unit(flux_request flux_request)
