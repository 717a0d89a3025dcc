# SPDX-License-Identifier: Apache-2.0
mcast_unit(rig_telltale rig mockfm tokens)
