# SPDX-License-Identifier: Apache-2.0
mcast_unit(spank_options spank)
mcast_unit(spank_grant spank rig)
mcast_unit(spank_settings spank rig)
mcast_unit(spank_program spank rig)
mcast_unit(spank_fetch spank rig)
target_compile_definitions(spank_settings_test PRIVATE LIBDIR="${CMAKE_INSTALL_LIBDIR}"
    BINDIR="${CMAKE_INSTALL_BINDIR}" LIBEXECDIR="${CMAKE_INSTALL_LIBEXECDIR}"
    CONFIGURED="${CMAKE_INSTALL_FULL_BINDIR}")
