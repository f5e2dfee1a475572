// The synthetic program as a program of its own, for tests from the command line.
#include "ring/synthetic.hpp"

int main(int argc, char** argv) { return dsea::run_app<synthetic::Program>("synthetic", argc, argv); }
