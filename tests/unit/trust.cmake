mcast_unit(trust_trustedpath trust)
