# The program writes its own pages; `tutti` and `folder` are set before.
set(folder "$ENV{DESTDIR}${folder}")
file(MAKE_DIRECTORY "${folder}")
execute_process(COMMAND "${tutti}" man OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)
file(WRITE "${folder}/tutti.1" "${page}")
string(REGEX MATCHALL "tutti(\\\\-[a-z]+)+" commands "${page}")
list(REMOVE_DUPLICATES commands)
foreach(name IN LISTS commands)
  string(REPLACE "\\-" "-" command "${name}")
  string(REPLACE "tutti-" "" command "${command}")
  execute_process(COMMAND "${tutti}" man ${command} OUTPUT_FILE "${folder}/tutti-${command}.1"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
message(STATUS "Installing: ${folder}/tutti*.1")
