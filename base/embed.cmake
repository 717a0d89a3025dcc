# SPDX-License-Identifier: Apache-2.0
# Makes one C source of the files of a folder: cmake -DFOLDER=… -DHEADER=… -DOUT=… -P embed.cmake
file(GLOB files ${FOLDER}/*)
set(rows "")
foreach(file ${files})
    get_filename_component(name ${file} NAME)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
    string(REPLACE "\\x0a" "\\x0a\"\n\"" bytes "${bytes}")
    string(APPEND rows "{\"${name}\", \"${bytes}\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"base/text.h\"\n#include <string.h>\n
static const struct { const char *name, *text; } texts[] = {\n${rows}};\n
const char *text_find(const char *name, const char *ending)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strncmp(texts[i].name, name, length) == 0 && strcmp(texts[i].name + length, ending) == 0)
            return texts[i].text;
    }
    return NULL;
}\n")
