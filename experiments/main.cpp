// The command `tutti`.
#include "experiments/cli.hpp"

int main(int argc, char** argv) { return tutti::command_line(argc, argv); }
