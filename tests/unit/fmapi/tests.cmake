# SPDX-License-Identifier: Apache-2.0
mcast_unit(fmapi_decode fmapi)
mcast_unit(fmapi_secrets fmapi)
mcast_unit(fmapi_baseurl fmapi PkgConfig::CURL)
mcast_unit(fmapi_request fmapi PkgConfig::JANSSON)
mcast_unit(fmapi_jobsteps fmapi_wire PkgConfig::JANSSON)
# Without fmapi: what it links shows what a program without a loop can do.
mcast_unit(fmapi_wire fmapi_wire PkgConfig::CURL)
mcast_unit(fmapi_exchange fmapi PkgConfig::CURL PkgConfig::CRYPTO)
target_link_options(fmapi_exchange_test PRIVATE -Wl,--wrap=curl_easy_setopt)
mcast_unit(fmapi_credential fmapi)
mcast_unit(fmapi_oauth fmapi)
mcast_unit(fmapi_documents fmapi_wire)
mcast_unit(fmapi_tlsfault fmapi PkgConfig::CURL PkgConfig::CRYPTO)
