mcast_unit(tokens_seal tokens)
mcast_unit(tokens_seal_key tokens)
