// The command `tutti`.
#include "experiments/driver/cli/cli.hpp"

int main(int argc, char** argv) { return tutti::command_line(argc, argv); }
