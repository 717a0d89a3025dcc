mcast_unit(state_store state)
