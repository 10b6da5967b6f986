// Graphs built in C++ (17): operators, calls and blocks that write the text of a graph, which a
// session is then extended with. A value is a name that the text binds, after what made it (mean,
// mean_1), so what is built is what the text says: graph.text() shows it, `use` of a saved one and
// errors, with their place in it.
//
//     leat::graph g;
//     auto w = g.variable("w", "f32[3]", 0);
//     {
//       auto train = g.entry("train", {{"x", "f32[N, 3]"}, {"y", "f32[N]"}}, {"loss"}, true);
//       auto loss = g.call("mean", g.call("square", matmul(train["x"], w) - train["y"]));
//       g.effect("minimize", loss, leat::code("sgd"), leat::arg("lr", 0.5));
//       train.result("loss", loss);
//     }
//     leat::session session;
//     g.extend(session);
//
// All functions of the library and of the text itself are called by their names; docs/library.md
// lists the library's. Loops that run while the graph does are its fori, scan, map and cond, which
// take a function of the graph; any other statement is written by `line`.
#ifndef LEAT_GRAPH_HPP
#define LEAT_GRAPH_HPP

#include "leat/keywords.h"
#include "leat/leat.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <set>

namespace leat {

class graph;
struct argument;

namespace detail {

inline bool is_plain(std::string_view name) {
#define LEAT_KEYWORD(id, spelling) " " spelling
#define LEAT_TYPE(id, size, kind) " " #id
  static constexpr std::string_view words =
      LEAT_KEYWORD_LIST(LEAT_KEYWORD) LEAT_DTYPE_LIST(LEAT_TYPE)
  " training any int float type list ";
#undef LEAT_KEYWORD
#undef LEAT_TYPE
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !is_letter(name[0])) return false;
  for (char c : name)
    if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
  return words.find(" " + std::string(name) + " ") == words.npos;
}

// As a name is written: in backquotes where it is not plain.
inline std::string spelled(const std::string &name) {
  return is_plain(name) ? name : "`" + name + "`";
}

inline std::string quoted(std::string_view bytes) {
  std::string out = "\"";
  for (char byte : bytes) {
    auto c = static_cast<unsigned char>(byte);
    bool is_shown = c >= ' ' && c < 0x7f;
    if (!is_shown || c == '"' || c == '\\' || c == '{' || c == '}') out += '\\';
    if (is_shown)
      out += byte;
    else
      out += {'x', "0123456789ABCDEF"[c / 16], "0123456789ABCDEF"[c % 16]};
  }
  return out + "\"";
}

// A number, with all its digits: as a literal it takes the dtype of what it meets.
template <class T> std::string literal(T number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(number);
  } else {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    char digits[64];
    std::string out(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    std::size_t e = out.find('e');
    if (e != out.npos && out[e + 1] == '+') out.erase(e + 1, 1); // the language has no such plus
    return out.find_first_of(".e") == out.npos ? out + ".0" : out;
  }
}

template <class Names> std::string joined(const Names &names) {
  std::string out;
  for (const std::string &name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

} // namespace detail

// Text of the language as it is: `sgd`, `f32[3, 4]`, `1:3`.
struct code {
  std::string text;
  explicit code(std::string given) : text(std::move(given)) {}
};

// A name in a graph's text.
class value {
public:
  const std::string &name() const { return name_; }
  value operator[](const argument &item) const;                    // x[0], x[code("1:3")]
  template <class... Items> value at(const Items &...items) const; // x.at(i, code(":"))

private:
  friend class graph;
  friend struct argument;
  value(graph &owner, std::string name) : owner_(&owner), name_(std::move(name)) {}
  graph *owner_;
  std::string name_;
};

// What a call is given: a value, a number, a string, a list of such, or code.
struct argument {
  std::string text;
  graph *owner = nullptr; // of the first value in it

  argument(const value &given) : text(given.name()), owner(given.owner_) {}
  argument(const code &given) : text(given.text) {}
  argument(const char *given) : text(detail::quoted(given)) {}
  argument(const std::string &given) : text(detail::quoted(given)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  argument(T given) : text(detail::literal(given)) {}
  template <class T> argument(const std::vector<T> &given) {
    std::vector<std::string> texts;
    for (const T &item : given) {
      argument one(item);
      texts.push_back(one.text);
      if (!owner) owner = one.owner;
    }
    text = "[" + detail::joined(texts) + "]";
  }
};

// A list of values, numbers, … of different types; of one type a std::vector is one.
template <class... Items> argument list(const Items &...items) {
  return std::vector<argument>{argument(items)...};
}

// Of a call: an argument by name; the instance that it is; the name that the result is bound to.
struct arg {
  std::string text;
  arg(const std::string &name, const argument &given)
      : text(detail::spelled(name) + "=" + given.text) {}
};
struct as {
  std::string path, text;
  explicit as(const std::string &given)
      : path(given), text(" as " + (detail::is_plain(path) ? path : detail::quoted(path))) {}
};
struct let {
  std::string name;
  explicit let(std::string given) : name(std::move(given)) {}
};

// Of a call, too: what it runs behind, `after({a, b})`; beside what it is computed.
struct after {
  std::string text;
  explicit after(const std::vector<value> &given) : text(" after " + argument(given).text) {}
};
struct colocate {
  std::string text;
  explicit colocate(const value &given) : text(" colocate " + given.name()) {}
};

// A parameter of an entry or a function, or a result; of a result the type may be left out.
struct parameter {
  std::string name, type, otherwise; // its default, as code; "": none
  parameter(std::string called, std::string of = "", std::string by_default = "")
      : name(std::move(called)), type(std::move(of)), otherwise(std::move(by_default)) {}
  parameter(const char *called) : name(called) {}
};

// What stands between braces; it ends with the object.
class block {
public:
  block(block &&other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
  block(const block &) = delete;
  block &operator=(const block &) = delete;
  block &operator=(block &&) = delete;
  ~block() { end(); }
  void end();
  value operator[](const std::string &parameter) const;          // of an entry or a function
  void result(const std::string &name, const argument &given);   // of an entry
  template <class... Values> void give(const Values &...values); // of a function

private:
  friend class graph;
  explicit block(graph &owner) : owner_(&owner) {}
  graph *owner_;
};

class graph {
public:
  explicit graph(std::string file = "graph.leat") : file_(std::move(file)) {}
  graph(const graph &) = delete; // values point to it
  graph &operator=(const graph &) = delete;

  std::string text() const { return sent_ + text_; }
  void save(const std::string &path) const { // for `use`, and for `leat run`
    std::ofstream out(path, std::ios::binary);
    if (!(out << text()) || !out.flush()) throw error(LEAT_IO, "cannot write " + path);
  }
  // Adds what was written since the last call to the session's graph. What is refused is forgotten.
  void extend(session &session) {
    if (depth_) throw error(LEAT_INVALID, "a block of the graph has not ended");
    std::string text = std::exchange(text_, "");
    session.extend(text, file_);
    sent_ += text;
  }

  // -- Statements ------------------------------------------------------------------------------

  void line(const std::string &statement) { // as it is
    text_ += std::string(2 * depth_, ' ') + statement + "\n";
  }
  void use(const std::string &file) { line("use " + detail::quoted(file)); }
  // Statements with a block: g.open("on \"/job:ps\"").
  block open(const std::string &head) {
    line(head + " {");
    if (!depth_) inner_.clear();
    depth_++;
    return block(*this);
  }
  block on(const std::string &device) { return open("on " + detail::quoted(device)); }
  block entry(const std::string &name, const std::vector<parameter> &parameters,
              const std::vector<parameter> &results, bool training = false) {
    block opened = open("entry " + take(name) + "(" + listed(parameters) + ")" +
                        (training ? " training" : "") + " -> (" + listed(results) + ")");
    take(parameters);
    take(results);
    return opened;
  }
  // `results`: a type, or "(f32[N], i32[N])".
  block function(const std::string &name, const std::vector<parameter> &parameters,
                 const std::string &results) {
    block opened = open("fn " + take(name) + "(" + listed(parameters) + ")" +
                        (results.empty() ? "" : " -> " + results));
    take(parameters);
    return opened;
  }
  // Options are given as arg("trainable", false).
  template <class... Options>
  value variable(const std::string &name, const std::string &type, const argument &initial,
                 const Options &...options) {
    std::string text = "var " + take(name) + ": " + type + " = " + initial.text;
    ((text += " " + options.text), ...);
    line(text);
    return named(detail::spelled(name));
  }
  void assign(const value &variable, const argument &given) {
    line(variable.name() + " := " + given.text);
  }
  void add(const value &variable, const argument &given) {
    line(variable.name() + " += " + given.text);
  }

  // -- Values ----------------------------------------------------------------------------------

  // A name that the text has anyhow: a parameter, what another text declared.
  value named(const std::string &text) { return value(*this, text); }
  // A name for what the text says; `stem`: the next of stem, stem_1 … that is free.
  value bind(const std::string &expression, const std::string &stem) {
    std::string name = free_name(stem);
    line(name + " = " + expression);
    return named(name);
  }
  template <class... Arguments> value call(const std::string &function, const Arguments &...given) {
    written made = write(function, given...);
    if (made.name.empty()) return bind(made.text(), made.stem());
    line(take(made.name) + " = " + made.text());
    return named(detail::spelled(made.name));
  }
  // Of a call with several results.
  template <class... Arguments>
  std::vector<value> calls(int results, const std::string &function, const Arguments &...given) {
    written made = write(function, given...);
    std::vector<std::string> names;
    for (int i = 0; i < results; i++) names.push_back(free_name(made.stem()));
    line(detail::joined(names) + " = " + made.text());
    std::vector<value> out;
    for (const std::string &name : names) out.push_back(named(name));
    return out;
  }
  // A call for what it does.
  template <class... Arguments>
  void effect(const std::string &function, const Arguments &...given) {
    line(write(function, given...).text());
  }
  value grad(const value &loss, const value &of) { return call("grad", loss, of); }
  std::vector<value> grad(const argument &loss, const std::vector<value> &of) {
    if (of.size() == 1) return {call("grad", loss, of)[0]};
    return calls(static_cast<int>(of.size()), "grad", loss, of);
  }

private:
  friend class block;
  struct written {
    std::string function, arguments, instance, instance_name, beside, behind, name;
    std::string stem() const { return instance_name.empty() ? function : instance_name; }
    std::string text() const {
      return detail::spelled(function) + "(" + arguments + ")" + instance + beside + behind;
    }
    void add(const argument &one) { arguments += (arguments.empty() ? "" : ", ") + one.text; }
    void add(const arg &one) { arguments += (arguments.empty() ? "" : ", ") + one.text; }
    void add(const as &one) {
      instance = one.text;
      instance_name = detail::is_plain(one.path) ? one.path : "";
    }
    void add(const let &one) { name = one.name; }
    void add(const colocate &one) { beside = one.text; }
    void add(const after &one) { behind = one.text; }
  };
  template <class... Arguments>
  static written write(const std::string &function, const Arguments &...given) {
    written out;
    out.function = function;
    (out.add(given), ...);
    return out;
  }
  static std::string listed(const std::vector<parameter> &parameters) {
    std::vector<std::string> out;
    for (const parameter &one : parameters)
      out.push_back(detail::spelled(one.name) + (one.type.empty() ? "" : ": " + one.type) +
                    (one.otherwise.empty() ? "" : " = " + one.otherwise));
    return detail::joined(out);
  }

  // Notes that a definition, or the graph, has the name; as it is written.
  std::string take(const std::string &name) {
    (depth_ ? inner_ : outer_).insert(name);
    return detail::spelled(name);
  }
  void take(const std::vector<parameter> &parameters) {
    for (const parameter &one : parameters) take(one.name);
  }
  std::string free_name(const std::string &stem) {
    std::string name = stem;
    for (int i = 1; !detail::is_plain(name) || inner_.count(name) || outer_.count(name); i++)
      name = (stem.empty() ? "value" : stem) + "_" + std::to_string(i);
    return take(name);
  }

  std::string file_, sent_, text_;
  std::size_t depth_ = 0;
  std::set<std::string> outer_, inner_; // names of the graph, and of what is defined now
};

inline void block::end() {
  graph *owner = std::exchange(owner_, nullptr);
  if (!owner) return;
  owner->depth_--;
  owner->line("}");
}
inline value block::operator[](const std::string &parameter) const {
  return owner_->named(detail::spelled(parameter));
}
inline void block::result(const std::string &name, const argument &given) {
  if (detail::spelled(name) != given.text) owner_->line(owner_->take(name) + " = " + given.text);
}
template <class... Values> void block::give(const Values &...values) {
  owner_->line("return " + detail::joined(std::vector<std::string>{argument(values).text...}));
}

// -- Operators -----------------------------------------------------------------------------------

namespace detail {
inline value infix(const argument &a, const char *operation, const argument &b, const char *name) {
  return (a.owner ? a.owner : b.owner)->bind(a.text + " " + operation + " " + b.text, name);
}
template <class T>
using other =
    std::enable_if_t<!std::is_same_v<T, value> && std::is_constructible_v<argument, const T &>>;
} // namespace detail

// One side is a value, the other may be anything that an argument is. Comparisons give values, too.
#define LEAT_CPP_INFIX(function, operation, name)                                                  \
  inline value function(const value &a, const value &b) {                                          \
    return detail::infix(a, operation, b, name);                                                   \
  }                                                                                                \
  template <class T, class = detail::other<T>> value function(const value &a, const T &b) {        \
    return detail::infix(a, operation, b, name);                                                   \
  }                                                                                                \
  template <class T, class = detail::other<T>> value function(const T &a, const value &b) {        \
    return detail::infix(a, operation, b, name);                                                   \
  }
LEAT_CPP_INFIX(operator+, "+", "add")
LEAT_CPP_INFIX(operator-, "-", "sub")
LEAT_CPP_INFIX(operator*, "*", "mul")
LEAT_CPP_INFIX(operator/, "/", "div")
LEAT_CPP_INFIX(floor_div, "//", "floor_div")
LEAT_CPP_INFIX(operator%, "%", "remainder")
LEAT_CPP_INFIX(operator==, "==", "equal")
LEAT_CPP_INFIX(operator!=, "!=", "not_equal")
LEAT_CPP_INFIX(operator<, "<", "less")
LEAT_CPP_INFIX(operator<=, "<=", "less_equal")
LEAT_CPP_INFIX(operator>, ">", "greater")
LEAT_CPP_INFIX(operator>=, ">=", "greater_equal")
LEAT_CPP_INFIX(operator&, "and", "and")
LEAT_CPP_INFIX(operator|, "or", "or")
LEAT_CPP_INFIX(matmul, "@", "matmul")
#undef LEAT_CPP_INFIX
inline value operator-(const value &x) {
  return argument(x).owner->bind("-" + x.name(), "neg");
}
inline value operator!(const value &x) {
  return argument(x).owner->bind("not " + x.name(), "not");
}

inline value value::operator[](const argument &item) const {
  return at(item);
}
template <class... Items> value value::at(const Items &...items) const {
  std::vector<std::string> texts{argument(items).text...};
  return owner_->bind(name_ + "[" + detail::joined(texts) + "]", "index");
}

} // namespace leat

#endif
