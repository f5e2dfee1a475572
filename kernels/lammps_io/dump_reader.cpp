#include "kernels/lammps_io/dump_reader.hpp"

#include <algorithm>

#include "dsea/base/text.hpp"
#include "kernels/lammps_io/line_reader.hpp"
#include "kernels/lammps_io/molecule_lines.hpp"

namespace dsea::lammps {

namespace {

constexpr const char* axis_names[] = {"x", "y", "z"};

/// Where in a line the numbers of a molecule are; -1: not there.
struct Columns {
  int id = -1, type = -1;
  std::array<int, 3> position{-1, -1, -1}, velocity{-1, -1, -1}, image{-1, -1, -1};
  std::size_t count = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& name, int types) : in_(text, name), types_(types) {}

  DataFile parse() {
    for (bool more = in_.next_filled(); more; more = in_.next_filled()) item();
    if (in_.unfinished()) {
      file_.warnings.push_back(cat(in_.place(), ": the last line has no end of line: was the file cut there?"));
    }
    if (!atoms_seen_) in_.fail("'ITEM: ATOMS' is missing: is this a LAMMPS dump?");
    lines_.sort(in_, file_.molecules);
    file_.types = std::max(1, types_ > 0 ? types_ : largest_type_);
    file_.masses.assign(static_cast<std::size_t>(file_.types), 1.0);
    return std::move(file_);
  }

 private:
  bool at(std::string_view item) const { return in_.content().substr(0, item.size()) == item; }

  void item() {
    if (at("ITEM: TIMESTEP")) {
      if (step_seen_) in_.fail("a second snapshot begins here: a start needs a file with one, so cut one out");
      step_seen_ = true;
      next("the step");
      file_.step = in_.integer(in_.content(), "the step");
    } else if (at("ITEM: NUMBER OF ATOMS")) {
      next("the number of atoms");
      count_ = in_.integer(in_.content(), "the number of atoms");
      if (count_ < 0) in_.fail(cat("the number of atoms is ", count_, ": it must be at least 0"));
    } else if (at("ITEM: BOX BOUNDS")) {
      box();
    } else if (at("ITEM: ATOMS")) {
      atoms();
    } else if (at("ITEM: UNITS") || at("ITEM: TIME")) {
      next("a value");
    } else if (atoms_seen_ && !at("ITEM:")) {
      in_.fail(cat("more lines than 'ITEM: NUMBER OF ATOMS' says (", count_, ")"));
    } else {
      in_.fail(cat("'", in_.content(), "' is not understood: is this a LAMMPS dump?"));
    }
  }

  void next(std::string_view what) {
    if (!in_.next_filled()) in_.fail(cat("the file ends here, but ", what, " should follow"));
  }

  void box() {
    const std::vector<std::string_view> words = in_.words();
    for (std::string_view word : words) {
      if (word == "xy" || word == "abc") tilted();
    }
    for (std::size_t axis = 0; axis < 3; ++axis) periodic_[axis] = words.size() == 6 && words[3 + axis] == "pp";
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string a = axis_names[axis];
      next(cat("the bounds of ", a));
      if (in_.words().size() == 3) tilted();
      if (in_.words().size() != 2) in_.fail(cat("the bounds of ", a, " must be two numbers"));
      file_.lo[axis] = in_.real(in_.words()[0], a + "lo");
      file_.hi[axis] = in_.real(in_.words()[1], a + "hi");
      if (!(file_.lo[axis] < file_.hi[axis])) in_.fail(cat(a, "lo must be less than ", a, "hi"));
    }
    box_seen_ = true;
  }

  [[noreturn]] void tilted() const {
    in_.fail("the box is tilted (xy xz yz): only boxes with right angles are supported");
  }

  void atoms() {
    if (count_ < 0) in_.fail("'ITEM: NUMBER OF ATOMS' is missing before this");
    if (!box_seen_) in_.fail("'ITEM: BOX BOUNDS' is missing before this");
    if (atoms_seen_) in_.fail("'ITEM: ATOMS' is there twice");
    atoms_seen_ = true;
    const Columns columns = this->columns();
    file_.has_velocities = columns.velocity[0] >= 0;
    file_.molecules.reserve(static_cast<std::size_t>(std::min<std::int64_t>(count_, 1 << 24)));
    for (std::int64_t n = 0; n < count_; ++n) {
      if (!in_.next_filled() || at("ITEM:")) {
        in_.fail(cat("there are ", n, " molecules, but 'ITEM: NUMBER OF ATOMS' says ", count_));
      }
      if (in_.words().size() != columns.count) {
        in_.fail(
            cat("a line must have ", columns.count, " words, one for each column, this one has ", in_.words().size()));
      }
      file_.molecules.push_back(molecule(columns));
    }
  }

  Columns columns() const {
    const std::vector<std::string_view> names(in_.words().begin() + 2, in_.words().end());
    std::string missing;
    const auto find = [&](std::string_view name, bool needed) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end()) return static_cast<int>(found - names.begin());
      if (needed) missing += cat(missing.empty() ? "" : " ", name);
      return -1;
    };
    const auto triple = [&](const std::string& prefix, bool needed) {
      std::array<int, 3> places{};
      for (const char* axis : axis_names) needed = needed || find(prefix + axis, false) >= 0;  // all or none
      for (std::size_t axis = 0; axis < 3; ++axis) places[axis] = find(prefix + axis_names[axis], needed);
      return places;
    };
    Columns c;
    c.count = names.size();
    c.id = find("id", true);
    c.type = find("type", true);
    c.position = triple("", true);
    c.velocity = triple("v", false);
    c.image = triple("i", false);
    if (!missing.empty()) {
      in_.fail(cat("columns are missing: ", missing, "; needed are id type x y z (not scaled or unwrapped), and ",
                   "all three of vx vy vz, ix iy iz or none"));
    }
    return c;
  }

  DataMolecule molecule(const Columns& columns) {
    const auto word = [this](int column) { return in_.words()[static_cast<std::size_t>(column)]; };
    DataMolecule m;
    m.id = molecule_id(in_, word(columns.id));
    m.type = type(word(columns.type));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string a = axis_names[axis];
      m.position[axis] = in_.real(word(columns.position[axis]), a);
      if (file_.has_velocities) m.velocity[axis] = in_.real(word(columns.velocity[axis]), "v" + a);
      if (columns.image[axis] >= 0) m.image[axis] = molecule_image(in_, word(columns.image[axis]));
      place(m, axis);
    }
    lines_.add(m.id, in_.line());
    return m;
  }

  int type(std::string_view word) {
    const std::int64_t t = in_.integer(word, "the type");
    const int most = types_ > 0 ? types_ : most_types;
    if (t < 1 || t > most) in_.fail(cat("type ", t, " is unknown: there are ", most, types_ > 0 ? "" : " at most"));
    largest_type_ = std::max(largest_type_, static_cast<int>(t));
    return static_cast<int>(t);
  }

  /// Brings a molecule into the box.
  void place(DataMolecule& m, std::size_t axis) const {
    const double lo = file_.lo[axis], hi = file_.hi[axis];
    const double x = m.position[axis];
    if (x >= lo && x <= hi) return;
    const double length = hi - lo;
    if (!periodic_[axis] || x < lo - length || x > hi + length) fail_outside(in_, m, axis, file_);
    m.image[axis] += x < lo ? -1 : 1;
    m.position[axis] = std::clamp(x < lo ? x + length : x - length, lo, hi);
  }

  LineReader in_;
  DataFile file_;
  MoleculeLines lines_;
  int types_;
  int largest_type_ = 0;
  std::int64_t count_ = -1;
  std::array<bool, 3> periodic_{};
  bool step_seen_ = false;
  bool box_seen_ = false;
  bool atoms_seen_ = false;
};

}  // namespace

DataFile parse_dump_file(std::string_view text, const std::string& name, int types) {
  return Parser(text, name, types).parse();
}

DataFile read_dump_file(const std::string& path, int types) {
  return parse_dump_file(read_text_file(path, "dump"), path, types);
}

}  // namespace dsea::lammps
