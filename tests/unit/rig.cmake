mcast_unit(rig_telltale rig mockfm tokens)
