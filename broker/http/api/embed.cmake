# SPDX-License-Identifier: Apache-2.0
# Makes a C source of a file: cmake -DIN=… -DOUT=… -DHEADER=… -DNAME=… -P embed.cmake
file(READ ${IN} bytes HEX)
string(LENGTH "${bytes}" length)
math(EXPR length "${length} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include \"${HEADER}\"\n
const size_t ${NAME}_length = ${length};
const char ${NAME}_document[] = {\n${bytes}0};\n")
