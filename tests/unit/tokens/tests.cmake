# SPDX-License-Identifier: Apache-2.0
mcast_unit(tokens_seal tokens)
mcast_unit(tokens_seal_key tokens)
mcast_unit(tokens_bearer tokens)
mcast_unit(tokens_issuer tokens)
target_compile_definitions(tokens_issuer_test PRIVATE
    TOKENS_PAGE="${CMAKE_SOURCE_DIR}/docs/tokens.md")
target_link_options(tokens_issuer_test PRIVATE -Wl,--wrap=keybytes_draw)
mcast_unit(tokens_rootkeys tokens)
mcast_unit(tokens_fingerprint tokens)
