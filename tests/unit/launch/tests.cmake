# SPDX-License-Identifier: Apache-2.0
mcast_unit(launch_document launch)
mcast_unit(launch_sealed launch)
