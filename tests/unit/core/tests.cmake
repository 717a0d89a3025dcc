# SPDX-License-Identifier: Apache-2.0
# These link core, base and cmocka, nothing else: what core needs beyond libc and base would not be found.
foreach(noun config vnipool sizing environment ledger agenda callqueue tombstones
        strays eventlog events record reserve release link sync jobpoll nodes nodeset
        nodereport nodesum interconnect view load cleanup witness tokenset missing act listing suspect
        leader held relay reservewait plugin profile nodenics nicsreport traffic foreign share
        fabricmap inventory concern)
    mcast_unit(core_${noun} core)
endforeach()
target_link_options(core_release_test PRIVATE -Wl,--wrap=explicit_bzero)
