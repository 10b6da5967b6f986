// Leat in C++17: sessions and compiled models that release themselves, tensors that know who owns
// them, errors as exceptions. All of leat.h and runtime.h; what the functions mean is said there.
//
//     leat::session session;
//     session.extend("entry f(a: f32[], b: f32[]) -> (y: f32[]) { y = a + b }");
//     leat::step f = session.prepare("f");
//     float y = f.run({1.0f, 2.0f})[0].item<float>(); // 3
//
// graph.hpp builds texts in C++. Header-only: link with libleat (sessions) or libleat_rt (models).
#ifndef LEAT_HPP
#define LEAT_HPP

#include "leat/leat.h"
#include "leat/runtime.h"
#include "leat/tensor.hpp"

#include <exception>
#include <functional>
#include <mutex>
#include <optional>

namespace leat {

// -- Running -------------------------------------------------------------------------------------

// What a step or a model takes or gives.
struct port {
  std::string name, type; // "f32[B, 10]"
  bool has_fallback;      // a feed that may be left out
  bool donated = false;   // a feed that a run may write to
};

// A value for a feed: the next one's in order, or by name.
struct feed {
  std::string name; // "": by order
  tensor value;
  template <class T, class = std::enable_if_t<std::is_convertible_v<T, tensor>>>
  feed(T &&given) : value(std::forward<T>(given)) {}
  feed(std::string_view port, tensor given) : name(port), value(std::move(given)) {}
};

// What a run gave, by number or name. The elements are the step's, or the model's, until its next
// run: copy() what is to stay, or take() all from a step. What was made in a donated feed is that
// tensor's memory.
class results {
public:
  std::size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  const tensor &operator[](std::size_t i) const { return values_.at(i); }
  const tensor &operator[](std::string_view name) const {
    for (std::size_t i = 0; i < values_.size(); i++)
      if ((*ports_)[i].name == name) return values_[i];
    throw error(LEAT_NOT_FOUND, "there is no result `" + std::string(name) + "`");
  }

private:
  friend class step;
  friend class entry;
  results(std::vector<tensor> values, std::shared_ptr<const std::vector<port>> ports)
      : values_(std::move(values)), ports_(std::move(ports)) {}
  std::vector<tensor> values_;
  std::shared_ptr<const std::vector<port>> ports_; // and with them whose the elements are
};

namespace detail {

// The feeds in the order of the ports; what is not given takes its default.
template <class Feeds>
std::vector<leat_tensor> in_order(const std::vector<port> &ports, const Feeds &feeds) {
  std::vector<leat_tensor> out(ports.size());
  std::size_t next = 0;
  for (const feed &one : feeds) {
    std::size_t i = one.name.empty() ? next++ : 0;
    while (!one.name.empty() && i < ports.size() && ports[i].name != one.name) i++;
    if (i >= ports.size())
      throw error(LEAT_INVALID, one.name.empty() ? "there are more values than the " +
                                                       std::to_string(ports.size()) + " feeds"
                                                 : "there is no feed `" + one.name + "`");
    if (ports[i].donated && one.value.read_only())
      throw error(LEAT_INVALID,
                  "feed `" + ports[i].name + "` is donated, and its elements are const");
    out[i] = one.value.raw();
  }
  return out;
}

// Results that lie in a donated feed belong to whoever that does.
template <class Feeds>
std::vector<tensor> with_owners(const std::vector<leat_tensor> &results, const Feeds &feeds) {
  std::vector<tensor> out(results.begin(), results.end());
  for (tensor &result : out)
    for (const feed &one : feeds)
      if (one.value.raw().data && one.value.raw().data == result.raw().data)
        result = one.value.with(result.raw());
  return out;
}

inline std::string text_of(const char *text) {
  return text ? text : "";
}
inline const char *or_null(const std::string &text) {
  return text.empty() ? nullptr : text.c_str();
}
inline std::vector<const char *> pointers(const std::vector<std::string> &names) {
  std::vector<const char *> out;
  for (const std::string &name : names) out.push_back(name.c_str());
  return out;
}
// What C's malloc gave.
inline std::string take_text(char *text) {
  std::unique_ptr<char, decltype(&std::free)> owner(text, std::free);
  return text_of(text);
}

// A function that the library calls. What it throws ends the call that it was made in.
class callback {
public:
  std::function<void(std::string_view)> function;
  static void call(void *self, const char *text) noexcept {
    auto *me = static_cast<callback *>(self);
    try {
      me->function(text);
    } catch (...) {
      std::lock_guard<std::mutex> held(me->lock);
      if (!me->thrown) me->thrown = std::current_exception();
    }
  }
  void rethrow() {
    std::exception_ptr now;
    {
      std::lock_guard<std::mutex> held(lock);
      std::swap(now, thrown);
    }
    if (now) std::rethrow_exception(now);
  }

private:
  std::mutex lock;
  std::exception_ptr thrown;
};

// A session and what it calls; its steps keep it.
struct session_state {
  leat_session *session = nullptr;
  callback log, print;
  ~session_state() { leat_session_destroy(session); }
  std::vector<problem> problems() const {
    std::vector<problem> out;
    for (int i = 0; i < leat_session_problem_count(session); i++) {
      const leat_problem *one = leat_session_problem(session, i);
      out.push_back({one->severity, text_of(one->file), one->line, one->column, one->message});
    }
    return out;
  }
  void check(leat_status status) {
    log.rethrow();
    print.rethrow();
    if (status == LEAT_MEMORY && !session) throw std::bad_alloc();
    if (status) throw error(status, leat_session_message(session), problems());
  }
};

} // namespace detail

// -- Sessions ------------------------------------------------------------------------------------

// leat_session_options; what is empty or 0 is the default.
struct session_options {
  std::string cluster, target, cpu, cache, dump_after, stop_after, path, denormals, numerics;
  int devices = 0, threads = 0, memory_limit = 0;
  bool blis = false, symbolic = false, time_passes = false, interactive = false, trace = false;
  bool overwrite = false;
  double deadline = 0;
  std::vector<std::pair<std::string, std::string>> settings;
  std::function<void(std::string_view)> log, print;
};

// leat_step_spec.
struct step_spec {
  std::vector<std::string> entries, feeds, fetches, runs;
  std::string within;
  std::vector<std::string> donated; // feeds that the step may write to, and make results in
};

class step {
public:
  const std::vector<port> &feeds() const { return held_->feeds; }
  const std::vector<port> &fetches() const { return held_->fetches; }
  leat_step *raw() const { return held_->step; }
  explicit operator bool() const { return raw() != nullptr; } // not when `stop_after` ended it

  // run({x, y}), or run({{"x", x}}); feeds that are not given take their defaults.
  results run(std::initializer_list<feed> feeds = {}) { return run_with(feeds); }
  results run(const std::vector<feed> &feeds) { return run_with(feeds); }

  // What the last run gave, to stay as it is for as long as anybody has it: the next run computes
  // in other memory. It keeps all that the run computed in, memory() bytes.
  results take(const results &last) {
    struct taken {
      std::shared_ptr<held> of;
      leat_results *results = nullptr;
      ~taken() { leat_results_release(results); }
    };
    auto now = std::make_shared<taken>();
    now->of = held_;
    held_->state->check(leat_step_take(raw(), &now->results));
    results out = last;
    out.ports_ = {now, &fetches()};
    return out;
  }
  std::uint64_t memory() const { return leat_step_memory(raw()); }
  // Whether a fetch of the last run is a constant, which nobody may write to.
  bool is_constant(int fetch) const { return leat_step_is_constant(raw(), fetch); }

private:
  friend class session;
  struct held {
    std::shared_ptr<detail::session_state> state;
    leat_step *step;
    std::vector<port> feeds, fetches;
    ~held() { leat_step_destroy(step); }
  };
  step(std::shared_ptr<detail::session_state> state, leat_step *made)
      : held_(new held{std::move(state), made, {}, {}}) {
    auto port_of = [](const leat_port *raw) {
      return port{raw->name, raw->type, raw->has_fallback, raw->donated};
    };
    for (int i = 0; i < leat_step_feed_count(made); i++)
      held_->feeds.push_back(port_of(leat_step_feed(made, i)));
    for (int i = 0; i < leat_step_fetch_count(made); i++)
      held_->fetches.push_back(port_of(leat_step_fetch(made, i)));
  }
  template <class Feeds> results run_with(const Feeds &given) {
    std::vector<leat_tensor> in = detail::in_order(feeds(), given), out(fetches().size());
    held_->state->check(leat_step_run(raw(), in.data(), out.data()));
    return {detail::with_owners(out, given), {held_, &fetches()}};
  }

  std::shared_ptr<held> held_;
};

class session {
public:
  session() : session(session_options{}) {}
  explicit session(const session_options &options)
      : state_(std::make_shared<detail::session_state>()) {
    leat_session_options raw{};
    raw.cluster = detail::or_null(options.cluster);
    raw.devices = options.devices;
    raw.target = detail::or_null(options.target);
    raw.threads = options.threads;
    raw.cpu = detail::or_null(options.cpu);
    raw.blis = options.blis;
    raw.symbolic = options.symbolic;
    raw.cache = detail::or_null(options.cache);
    raw.dump_after = detail::or_null(options.dump_after);
    raw.stop_after = detail::or_null(options.stop_after);
    raw.time_passes = options.time_passes;
    raw.log = hear(state_->log, options.log);
    raw.log_context = &state_->log;
    raw.print = hear(state_->print, options.print);
    raw.print_context = &state_->print;
    raw.interactive = options.interactive;
    std::vector<leat_setting> settings;
    for (const auto &[name, value] : options.settings)
      settings.push_back({name.c_str(), value.c_str()});
    raw.settings = settings.data();
    raw.setting_count = static_cast<int>(settings.size());
    raw.path = detail::or_null(options.path);
    raw.trace = options.trace;
    raw.deadline = options.deadline;
    raw.memory_limit = options.memory_limit;
    raw.overwrite = options.overwrite;
    raw.denormals = detail::or_null(options.denormals);
    raw.numerics = detail::or_null(options.numerics);
    check(leat_session_create(&raw, &state_->session));
  }

  leat_session *raw() const { return state_->session; }
  // Of the last call, when all is well: its warnings.
  std::string message() const { return leat_session_message(raw()); }
  std::vector<problem> problems() const { return state_->problems(); }

  void extend(std::string_view text, const std::string &name = "text") {
    // Of no characters 0 would ask for strlen.
    check(leat_session_extend(raw(), text.empty() ? "" : text.data(), text.size(), name.c_str()));
  }
  void extend_file(const std::string &path) {
    check(leat_session_extend_file(raw(), path.c_str()));
  }
  void hold(const std::string &name, const tensor &value) {
    check(leat_session_hold(raw(), name.c_str(), &value.raw()));
  }
  std::string print() { return text_from(leat_session_print); }

  step prepare(const std::string &entry) {
    step_spec spec;
    spec.entries = {entry};
    return prepare(spec);
  }
  step prepare(const step_spec &wanted) {
    auto entries = detail::pointers(wanted.entries), feeds = detail::pointers(wanted.feeds);
    auto fetches = detail::pointers(wanted.fetches), runs = detail::pointers(wanted.runs);
    auto donated = detail::pointers(wanted.donated);
    leat_step_spec spec{};
    spec.entries = entries.data();
    spec.entry_count = static_cast<int>(entries.size());
    spec.feeds = feeds.data();
    spec.feed_count = static_cast<int>(feeds.size());
    spec.fetches = fetches.data();
    spec.fetch_count = static_cast<int>(fetches.size());
    spec.runs = runs.data();
    spec.run_count = static_cast<int>(runs.size());
    spec.within = detail::or_null(wanted.within);
    spec.donated = donated.data();
    spec.donated_count = static_cast<int>(donated.size());
    leat_step *made = nullptr;
    check(leat_session_prepare(raw(), &spec, &made));
    return step(state_, made);
  }
  void set_dumps(const std::string &dump_after, const std::string &stop_after = "") {
    check(leat_session_set_dumps(raw(), detail::or_null(dump_after), detail::or_null(stop_after)));
  }
  void set_deadline(double seconds) { check(leat_session_set_deadline(raw(), seconds)); }
  void interrupt(bool on = true) noexcept { leat_session_interrupt(raw(), on); }

  std::vector<std::string> entries() const {
    return all(leat_session_entry_count, leat_session_entry);
  }
  bool trains(int entry) const { return leat_session_entry_trains(raw(), entry); }
  std::optional<std::string> describe(const std::string &function) {
    char *text = leat_session_describe(raw(), function.c_str());
    if (!text) return std::nullopt;
    return detail::take_text(text);
  }
  std::vector<std::string> names(leat_name_kind kind, const std::string &of = "") {
    std::vector<std::string> out;
    auto take = [](void *context, const char *name) {
      static_cast<std::vector<std::string> *>(context)->emplace_back(name);
    };
    leat_session_names(raw(), kind, detail::or_null(of), take, &out);
    return out;
  }

  // Of the last text at top level.
  std::vector<std::string> shown() const {
    return all(leat_session_shown_count, leat_session_shown);
  }
  std::vector<std::string> effects() const {
    return all(leat_session_effect_count, leat_session_effect);
  }
  std::string shown_text() const { return leat_session_shown_text(raw()); }
  const leat_entry_run &entry_run() const { return *leat_session_entry_run(raw()); }

  std::vector<std::string> variables() const {
    return all(leat_session_variable_count, leat_session_variable);
  }
  std::string slot_of(int variable) const { // "": of none
    return detail::text_of(leat_session_slot_of(raw(), variable));
  }
  tensor read(const std::string &variable) {
    leat_tensor value{};
    check(leat_variable_read(raw(), variable.c_str(), &value));
    return tensor::take(value);
  }
  void write(const std::string &variable, const tensor &value) {
    check(leat_variable_write(raw(), variable.c_str(), &value.raw()));
  }
  void check_save(const std::string &path) { check(leat_session_check_save(raw(), path.c_str())); }
  void save(const std::string &path) { check(leat_session_save(raw(), path.c_str())); }
  void restore(const std::string &path) { check(leat_session_restore(raw(), path.c_str())); }
  void restore_partial(const std::string &path) {
    check(leat_session_restore_partial(raw(), path.c_str()));
  }

  bool is_client() const { return leat_session_is_client(raw()); }
  void serve() { check(leat_session_serve(raw())); }
  std::string traffic() { return text_from(leat_session_traffic); }
  std::string trace() { return text_from(leat_session_trace); }

private:
  void check(leat_status status) const { state_->check(status); }
  static void (*hear(detail::callback &callback,
                     const std::function<void(std::string_view)> &function))(void *, const char *) {
    callback.function = function;
    return function ? detail::callback::call : nullptr;
  }
  std::string text_from(leat_status (*give)(leat_session *, char **)) {
    char *text = nullptr;
    check(give(raw(), &text));
    return detail::take_text(text);
  }
  std::vector<std::string> all(int (*count)(const leat_session *),
                               const char *(*name)(const leat_session *, int)) const {
    std::vector<std::string> out;
    for (int i = 0; i < count(raw()); i++) out.emplace_back(name(raw(), i));
    return out;
  }

  std::shared_ptr<detail::session_state> state_;
};

// -- Models --------------------------------------------------------------------------------------

// leat_model_options; what is empty or 0 is the default.
struct model_options {
  int threads = 0;
  double deadline = 0;
  std::string base;
  std::function<void(std::string_view)> print;
  bool overwrite = false;
};

namespace detail {

struct model_entry {
  int number;
  std::string name, about;
  std::vector<port> feeds, fetches;
};

struct model_state {
  callback print;
  leat_model *model = nullptr;
  std::vector<model_entry> entries;
  ~model_state() { leat_model_destroy(model); }
  void check(leat_status status) {
    print.rethrow();
    if (status == LEAT_MEMORY && !model) throw std::bad_alloc();
    if (status) throw error(status, leat_model_message(model));
  }
  model_entry read_entry(int e) const {
    model_entry out{e, leat_model_entry_name(model, e), leat_model_entry_about(model, e), {}, {}};
    for (int i = 0; i < leat_model_feed_count(model, e); i++)
      out.feeds.push_back({leat_model_feed_name(model, e, i), leat_model_feed_type(model, e, i),
                           leat_model_feed_has_fallback(model, e, i),
                           leat_model_feed_is_donated(model, e, i)});
    for (int i = 0; i < leat_model_fetch_count(model, e); i++)
      out.fetches.push_back(
          {leat_model_fetch_name(model, e, i), leat_model_fetch_type(model, e, i), false});
    return out;
  }
};

} // namespace detail

// What a model can run. It keeps the model.
class entry {
public:
  const std::string &name() const { return said_->name; }
  const std::string &about() const { return said_->about; } // its documentation, or ""
  const std::vector<port> &feeds() const { return said_->feeds; }
  const std::vector<port> &fetches() const { return said_->fetches; }
  leat_dtype feed_dtype(int i) const {
    return leat_model_feed_dtype(state_->model, said_->number, i);
  }
  int feed_rank(int i) const { return leat_model_feed_rank(state_->model, said_->number, i); }

  results run(std::initializer_list<feed> feeds = {}) { return run_with(feeds); }
  results run(const std::vector<feed> &feeds) { return run_with(feeds); }
  // Bytes that such a run computes in, see model::lend.
  std::size_t memory(const std::vector<feed> &given) const {
    std::vector<leat_tensor> in = detail::in_order(feeds(), given);
    std::size_t out = 0;
    state_->check(leat_model_memory(state_->model, said_->number, in.data(), &out));
    return out;
  }

private:
  friend class model;
  entry(std::shared_ptr<detail::model_state> state, const detail::model_entry &said)
      : state_(std::move(state)), said_(&said) {}
  template <class Feeds> results run_with(const Feeds &given) {
    std::vector<leat_tensor> in = detail::in_order(feeds(), given), out(fetches().size());
    state_->check(leat_model_run(state_->model, said_->number, in.data(), out.data()));
    return {detail::with_owners(out, given), {state_, &fetches()}};
  }

  std::shared_ptr<detail::model_state> state_;
  const detail::model_entry *said_;
};

// What `leat build` made: model(NAME_steps).
class model {
public:
  explicit model(const leat_built_step *steps, const model_options &options = {})
      : state_(std::make_shared<detail::model_state>()) {
    leat_model_options raw{};
    raw.threads = options.threads;
    raw.deadline = options.deadline;
    raw.base = detail::or_null(options.base);
    state_->print.function = options.print;
    raw.print = options.print ? detail::callback::call : nullptr;
    raw.print_context = &state_->print;
    raw.overwrite = options.overwrite;
    check(leat_model_create(steps, &raw, &state_->model));
    for (int e = 0; e < leat_model_entry_count(state_->model); e++)
      state_->entries.push_back(state_->read_entry(e));
  }

  leat_model *raw() const { return state_->model; }
  std::vector<std::string> entries() const {
    std::vector<std::string> out;
    for (const detail::model_entry &one : state_->entries) out.push_back(one.name);
    return out;
  }
  entry operator[](const std::string &name) const {
    int number = leat_model_find_entry(raw(), name.c_str());
    if (number < 0) throw error(LEAT_NOT_FOUND, "there is no entry `" + name + "`");
    return {state_, state_->entries[static_cast<std::size_t>(number)]};
  }

  // Memory of the caller, 64-byte aligned, that runs compute in from now on; NULL: the model's own.
  void lend(void *memory, std::size_t size) { check(leat_model_lend(raw(), memory, size)); }

  std::vector<std::string> variables() const {
    std::vector<std::string> out;
    for (int i = 0; i < leat_model_variable_count(raw()); i++)
      out.emplace_back(leat_model_variable_name(raw(), i));
    return out;
  }
  std::string variable_type(int i) const {
    return detail::text_of(leat_model_variable_type(raw(), i));
  }
  tensor read(const std::string &variable) {
    leat_tensor value{};
    check(leat_model_variable_read(raw(), variable.c_str(), &value));
    return tensor::take(value);
  }
  void write(const std::string &variable, const tensor &value) {
    check(leat_model_variable_write(raw(), variable.c_str(), &value.raw()));
  }

  void restore(const std::string &path) { check(leat_model_restore(raw(), path.c_str())); }
  void restore_partial(const std::string &path) {
    check(leat_model_restore_partial(raw(), path.c_str()));
  }
  void check_save(const std::string &path) { check(leat_model_check_save(raw(), path.c_str())); }
  void save(const std::string &path) { check(leat_model_save(raw(), path.c_str())); }

private:
  void check(leat_status status) const { state_->check(status); }

  std::shared_ptr<detail::model_state> state_;
};

} // namespace leat

#endif
