// ljmd: molecular dynamics of Lennard-Jones molecules, streamed through a ring of workers.
//
//   ljmd run.toml [--set key=value]... [--ranks N] [--plan] ...        see ljmd.toml for all keys
#include "dsea/dsea.hpp"
#include "kernels/md/md.hpp"

int main(int argc, char** argv) { return dsea::run_app<dsea::md::Md>("ljmd", argc, argv); }
