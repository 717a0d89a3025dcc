# SPDX-License-Identifier: Apache-2.0
mcast_unit(http_diagnosis broker_http broker_engine)
