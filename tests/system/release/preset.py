#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./dev test builds and runs is the preset "release": preset.py CMAKEPRESETS.JSON BUILD

The preset "dev" adds how it is linked, and nothing else; this build was configured so; and asserts stay
in (docs/architecture.md, Asserts).
"""

import json
import os
import sys

SKIPPED = 77


def variables(presets, name):
    """Its cache variables, those that it inherits among them."""
    found = {}
    above = presets[name].get("inherits", [])
    for other in [above] if isinstance(above, str) else reversed(above):
        found.update(variables(presets, other))
    found.update(presets[name].get("cacheVariables", {}))
    return found


def main():
    with open(sys.argv[1]) as file:
        presets = {one["name"]: one for one in json.load(file)["configurePresets"]}
    with open(os.path.join(sys.argv[2], "CMakeCache.txt")) as file:
        lines = [line.rstrip("\n").split("=", 1) for line in file if "=" in line]
    cache = {name.split(":")[0]: value for name, value in lines}
    release, dev = variables(presets, "release"), variables(presets, "dev")
    linked = dev.pop("MCAST_QUICK_LINK", None)
    assert dev == release, "preset dev compiles otherwise than release: %s, %s" % (dev, release)
    assert "NDEBUG" not in json.dumps(release), "preset release leaves out asserts"
    if cache.get("MCAST_QUICK_LINK") != linked:
        print("skipped: this build is not of the preset dev")
        return SKIPPED
    for name, value in release.items():
        assert cache.get(name) == value, "%s is %s here, and %s in the preset release" % (
            name, cache.get(name), value)
    return 0


sys.exit(main())
