#include "tests/api/skeleton_tracer.hpp"

// Every member is compiled, as run_app would.
template class dsea::ProgramOf<skeleton::Tracer>;
