# These link core and cmocka, nothing else: what core needs beyond libc would not be found.
foreach(noun names idset vnipool sizing nodelist environment ledger agenda callqueue tombstones
        strays eventlog error reserve release link sync load)
    mcast_unit(core_${noun} core)
endforeach()
