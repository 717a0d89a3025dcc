# SPDX-License-Identifier: Apache-2.0
mcast_unit(trust_trustedpath trust)
mcast_unit(trust_keyfile trust)
