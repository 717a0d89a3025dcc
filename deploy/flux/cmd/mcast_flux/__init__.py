# SPDX-License-Identifier: Apache-2.0
"""flux mcast: what mcastd has given to a job of Flux, and why not more (flux-mcast(1))."""
