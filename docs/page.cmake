# SPDX-License-Identifier: Apache-2.0
# Writes the page that is installed of one in the repository: source → page. docs, slurm: the way from
# the page's folder to that of most pages, and to that of Slurm's hooks; "" or with a slash at the end.
file(READ "${source}" text)
set(up "\\]\\((\\.\\./)*") # a link, from wherever in the repository
string(REGEX REPLACE "${up}(deploy/slurm/)?spank/README\\.md" "](${docs}mcast_spank.md" text "${text}")
string(REGEX REPLACE "${up}deploy/slurm/README\\.md" "](${slurm}README.md" text "${text}")
string(REGEX REPLACE "${up}deploy/flux/README\\.md" "](${docs}flux.md" text "${text}")
string(REGEX REPLACE "${up}deploy/flux/jobtap/README\\.md" "](${docs}flux-jobtap.md" text "${text}")
string(REGEX REPLACE "${up}deploy/etcd/README\\.md" "](${docs}etcd.md" text "${text}")
string(REGEX REPLACE "${up}deploy/etcd/" "](${docs}examples/etcd/" text "${text}")
string(REGEX REPLACE "\\]\\((etcd\\.env|(etcd|mcastd)(\\.service)?\\.conf)\\)" "](${docs}examples/etcd/\\1)" text "${text}")
string(REGEX REPLACE "${up}deploy/examples/" "](${docs}examples/" text "${text}")
string(REGEX REPLACE "${up}deploy/(prometheus|grafana)/" "](${docs}examples/\\2/" text "${text}")
string(REGEX REPLACE "${up}docs/" "](${docs}" text "${text}")
file(WRITE "${page}" "${text}")
