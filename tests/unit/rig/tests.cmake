# SPDX-License-Identifier: Apache-2.0
mcast_unit(rig_secretscan rig tokens)
target_compile_definitions(rig_secretscan_test PRIVATE
    MOCK_FM_MODULES="${CMAKE_SOURCE_DIR}/mock-fm")
