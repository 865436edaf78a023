# cmake -DOUT=FILE.cpp -DFOLDER=web -DSCRIPTS="a.js|b.js" -P embed.cmake: page.html with page.css and the scripts in it, as bytes.
file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/page.css style)
string(REPLACE "|" ";" SCRIPTS "${SCRIPTS}")
set(script "")
foreach(name IN LISTS SCRIPTS)
  file(READ ${FOLDER}/${name} part)
  string(APPEND script "${part}")
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUT}.html "${page}")
file(READ ${OUT}.html bytes HEX)
file(REMOVE ${OUT}.html)
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "#include \"runtime/page/page_template.h\"

namespace sgd::page {

const unsigned char kPageTemplate[] = {
${bytes}};
const size_t kPageTemplateSize = sizeof(kPageTemplate);

}  // namespace sgd::page
")
