// Heat conduction in a box. Usage: heat heat.toml [--set key=value]... [--ranks N] [--device auto|host|cuda] [--plan]
#include "dsea/dsea.hpp"
#include "kernels/heat/heat.hpp"

int main(int argc, char** argv) { return dsea::run_app<heat::Heat>("heat", argc, argv); }
