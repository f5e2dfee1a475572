// Problem::check(): what a program says about itself that cannot be true.
#include "dsea/ring/program.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "dsea/base/error.hpp"
#include "dsea/base/text.hpp"
#include "dsea/ring/ledger.hpp"

namespace dsea {

namespace {

/// Throws UsageError with the text unless the condition holds.
template <class... Args>
void demand(bool condition, const Args&... text) {
  if (!condition) throw UsageError(cat("problem: ", text...));
}

template <class Container>
bool in_range(int index, const Container& container) {
  return index >= 0 && index < static_cast<int>(container.size());
}

/// Names are needed and differ.
template <class Specs, class Name>
void check_names(std::string_view what, const Specs& specs, Name name) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    demand(!name(specs[i]).empty(), what, " ", i, " has no name");
    for (std::size_t j = 0; j < i; ++j) {
      demand(name(specs[i]) != name(specs[j]), "two ", what, "s are called '", name(specs[i]), "'");
    }
  }
}

/// Every index of a kind's list is one of `declared` things, and none is named twice.
template <class Declared>
void check_list(const Kind& kind, std::string_view verb, std::string_view what, const std::vector<int>& list,
                const Declared& declared) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    demand(in_range(list[i], declared), "kind '", kind.name, "' ", verb, " ", what, " ", list[i],
           ", which this problem does not have: make it by Problem::", what, "() of the same object");
    demand(std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) ==
               list.begin() + static_cast<std::ptrdiff_t>(i),
           "kind '", kind.name, "' ", verb, " ", what, " '", declared[static_cast<std::size_t>(list[i])].name,
           "' twice");
  }
}

void check_fields(const Problem& problem, const Kind& kind) {
  for (std::size_t i = 0; i < kind.uses.size(); ++i) {
    const int field = kind.uses[i].first;
    demand(in_range(field, problem.layout.entries()), "kind '", kind.name, "' names field ", field,
           ", but the layout has ", problem.layout.size(), " fields");
    const std::string& name = problem.layout[field].name;
    for (std::size_t j = 0; j < i; ++j) {
      demand(kind.uses[j].first != field, "kind '", kind.name, "' says twice what it does with field '", name, "'");
    }
    demand(kind.uses[i].second != Use::contribute || problem.layout[field].travels, "kind '", kind.name,
           "' contributes to side field '", name, "': side fields are made by one worker for its own slab");
  }
  for (const Kind::Region& region : kind.contributions) {
    demand(region.away >= 0, "kind '", kind.name, "': the regions of field '", problem.layout[region.field].name,
           "' for other slabs have ", region.away, " elements");
  }
}

void check_kind(const Problem& problem, const Kind& kind) {
  demand(!kind.name.empty(), "a kind of worker has no name");
  for (const auto& [what, order] : {std::pair{"reads", kind.in}, std::pair{"writes", kind.out}}) {
    demand(order >= 0 && order <= max_order, "kind '", kind.name, "' ", what, " ", order,
           " slabs on each side; it must be 0 to ", max_order);
  }
  check_fields(problem, kind);
  demand(kind.out == 0 || !kind.contributions.empty(), "kind '", kind.name, "' writes ", kind.out,
         " slabs on each side but contributes to no field: name one by Kind::contributes(), or let out be 0");
  demand(kind.out > 0 || kind.contributions.empty(), "kind '", kind.name,
         "' contributes to fields of other slabs but writes none: let out be at least 1");
  check_list(kind, "observes", "observable", kind.observed, problem.observables);
  check_list(kind, "feeds back", "observable", kind.feedback, problem.observables);
  check_list(kind, "takes", "feed", kind.fed, problem.feeds);
}

/// Whether the kinds report the observable: one kind of every step must, or none at all.
bool is_reported(const Problem& problem, int observable) {
  const std::string& name = problem.observables[static_cast<std::size_t>(observable)].name;
  const std::size_t kinds_a_step = problem.kinds.size() / static_cast<std::size_t>(problem.program_steps);
  int steps = 0;
  for (std::size_t first = 0; first < problem.kinds.size(); first += kinds_a_step) {
    const Kind* found = nullptr;
    for (std::size_t k = first; k < first + kinds_a_step; ++k) {
      const Kind& kind = problem.kinds[k];
      if (std::find(kind.observed.begin(), kind.observed.end(), observable) == kind.observed.end()) continue;
      demand(found == nullptr, "kinds '", found != nullptr ? found->name : "", "' and '", kind.name,
             "' both report observable '", name, "': only one kind of a step may (the closing pass may as well)");
      found = &kind;
    }
    steps += found != nullptr ? 1 : 0;
  }
  demand(steps == 0 || steps == problem.program_steps, "observable '", name, "' is reported in ", steps, " of the ",
         problem.program_steps, " steps of the program: report it in each, or in none");
  return steps > 0;
}

void check_feedback(const Problem& problem, const Kind& kind) {
  for (int o : kind.feedback) {
    demand(is_reported(problem, o), "kind '", kind.name, "' asks for the reduced observable '",
           problem.observables[static_cast<std::size_t>(o)].name,
           "', which no kind reports: add Kind::observes() to the one that does");
  }
}

}  // namespace

void Problem::check() const {
  demand(slabs >= 1, "the data set has ", slabs, " slabs; at least 1 is needed");
  demand(std::isfinite(dt), "the time step dt is ", dt);
  demand(elements >= 0, "the number of elements is ", elements);
  demand(side_every >= 0, "side_every is ", side_every, "; 0 means never");
  demand(std::any_of(layout.entries().begin(), layout.entries().end(), [](const auto& e) { return e.travels; }),
         layout.size() == 0 ? "the layout has no field" : "the layout has side fields only: nothing would travel");
  demand(!kinds.empty(), "the program has no kind of worker");
  demand(program_steps >= 1 && kinds.size() % static_cast<std::size_t>(program_steps) == 0, "the program has ",
         kinds.size(), " kinds for ", program_steps, " steps: every step needs as many");

  check_names("observable", observables, [](const ObservableSpec& o) { return o.name; });
  demand(observables.size() <= static_cast<std::size_t>(max_observables), observables.size(), " observables, at most ",
         max_observables, " fit");
  for (const ObservableSpec& o : observables) {
    demand(!std::isnan(o.start), "observable '", o.name, "' starts with a value that is not a number");
  }
  check_names("feed", feeds, [](const FeedSpec& f) { return f.name; });
  for (const FeedSpec& f : feeds) {
    demand(f.elements >= 1 && f.element_bytes >= 1, "feed '", f.name, "' has ", f.elements, " elements a slab");
    demand(f.ahead >= 0, "feed '", f.name, "' looks ", f.ahead, " steps ahead");
  }
  check_names("phase", phases, [](const std::string& p) { return p; });
  demand(phases.size() <= static_cast<std::size_t>(max_phases), phases.size(), " phases, at most ", max_phases, " fit");
  check_names("column", columns, [](const std::string& c) { return c; });

  for (const Kind& kind : kinds) check_kind(*this, kind);
  for (int o = 0; o < static_cast<int>(observables.size()); ++o) is_reported(*this, o);
  for (const Kind& kind : kinds) check_feedback(*this, kind);
  if (finish) {
    check_kind(*this, *finish);
    demand(finish->out == 0, "the closing pass '", finish->name, "' writes ", finish->out,
           " slabs on each side; it may write its own only");
    check_feedback(*this, *finish);
  }
  demand(!last_snapshot || finish, "a snapshot of the last step needs a closing pass, which alone sees that state");
  demand(!last_snapshot || snapshot.size() > 0, "a snapshot of the last step is asked for, but it would be empty");
}

}  // namespace dsea
