# SPDX-License-Identifier: Apache-2.0
mcast_unit(state_store state)
mcast_unit(state_sqlite state PkgConfig::SQLITE)
mcast_unit(state_crash state)
mcast_unit(state_wal state)
mcast_unit(state_etcd_answers state tokens fmapi_fixture rig)
mcast_unit(state_offer state)
mcast_unit(state_growth state PkgConfig::SQLITE)
mcast_unit(state_sealing state tokens PkgConfig::SQLITE)
mcast_unit(state_recordjson state tokens)
mcast_unit(state_dump state tokens PkgConfig::SQLITE PkgConfig::CRYPTO)
mcast_unit(state_upgrade state tokens PkgConfig::SQLITE)
target_compile_definitions(state_upgrade_test PRIVATE
    LEDGER_1="${CMAKE_SOURCE_DIR}/tests/data/ledger-1/ledger-1.sql")
