# SPDX-License-Identifier: Apache-2.0
mcast_unit(rig_secretscan rig mockfm tokens)
