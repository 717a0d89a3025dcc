# SPDX-License-Identifier: Apache-2.0
mcast_unit(flux_request flux_request)
