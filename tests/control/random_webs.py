"""Random webs of switches and merges, in frames and in each other, which Python runs as the white paper says: a value is
dead where an input of what computes it is, and a merge gives the first that is not; a variable that is assigned a dead
one stays as it is. Also webs of floats, whose gradients Python carries along; in frames these only read variables.

What the compiler is told must hold of a web, that each value is alive for some outcome of the predicates, is seen to by
a mask: bit i tells whether the value is alive where bit k of i is what predicate k says.
"""
import random

import numpy

from case import Case, TARGETS

PREDICATES, VALUES = 4, 12
ALWAYS = (1 << (1 << PREDICATES)) - 1
HOLDS = [sum(1 << i for i in range(1 << PREDICATES) if i >> k & 1) for k in range(PREDICATES)]
MASK = (1 << 63) - 1
DEAD = None


def wrapped(number):
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


class Web:
    """Lines of text and what they do: each step is (names that it gives, a function of what is known, names it uses)."""
    writes, writes_in_frames = True, True

    def __init__(self, dice, names, prefix, state):
        self.dice, self.prefix, self.lines, self.steps, self.count, self.predicates = dice, prefix, [], [], 0, 0
        self.state = state  # the variables' values by name, of all webs of a program
        self.alive = dict.fromkeys(names, ALWAYS)
        self.decided = {}   # predicates by name: their masks

    def name(self):
        self.count += 1
        return f'{self.prefix}{self.count}'

    def add(self, names, text, uses, function):
        self.lines.append(f'{", ".join(names)} = {text}')
        self.steps.append((names, uses, function))

    def pick(self):
        return self.dice.choice([*self.alive, *list(self.alive)[-4:]])

    def compute(self):
        a, b, c = self.pick(), self.pick(), self.dice.randrange(1, 9)
        mask, name = self.alive[a] & self.alive[b], self.name()
        if not mask:
            return
        text, function = self.dice.choice([
            (f'{a} + {b} * {c}', lambda x, y: x + y * c), (f'{a} - {b} + {c}', lambda x, y: x - y + c),
            (f'bit_xor({a}, {b}) + {c}', lambda x, y: (x ^ y) + c)])
        self.add([name], text, [a, b], lambda x, y: [wrapped(function(x, y))])
        self.alive[name] = mask

    def predicate(self):
        if self.predicates == PREDICATES:
            return
        a, name, bit = self.pick(), self.name(), self.dice.randrange(4)
        self.add([name], f'bit_and({a}, {1 << bit}) != 0', [a], lambda x: [x >> bit & 1 == 1])
        self.decided[name] = self.alive[a], HOLDS[self.predicates]
        self.predicates += 1

    def switch(self):
        if not self.decided:
            return
        a, p = self.pick(), self.dice.choice(list(self.decided))
        known, holds = self.decided[p]
        no, yes, live = self.name(), self.name(), self.alive[a] & known
        sides = {no: live & ~holds & ALWAYS, yes: live & holds}
        if not all(sides.values()):
            return
        self.add([no, yes], f'switch({a}, {p})', [a, p], lambda x, on: [DEAD, x] if on else [x, DEAD])
        self.alive.update(sides)

    def merge(self, names=None):
        names = names or [self.pick() for _ in range(self.dice.choice([2, 2, 3]))]
        first, index, number = self.name(), self.name(), self.name()
        self.add([first, index], f'merge({", ".join(names)})', names, None)
        self.alive[first] = 0
        for name in names:
            self.alive[first] |= self.alive[name]
        self.add([number], f'cast({index}, i64)', [index], lambda x: [x])
        self.alive[number] = self.alive[first]
        return first

    def read(self):
        a, w, name = self.pick(), self.dice.choice(list(self.state)), self.name()
        self.add([name], f'{a} - {w}', [a], lambda x: [wrapped(x - self.state[w])])
        self.alive[name] = self.alive[a]

    def write(self):
        a, w, adds = self.pick(), self.dice.choice(list(self.state)), self.dice.random() < 0.5
        self.change(w, a, adds)

    def change(self, w, a, adds):
        def function(x):
            self.state[w] = wrapped(self.state[w] * adds + x)
            return []
        self.lines.append(f'{w} {"+=" if adds else ":="} {a}')
        self.steps.append(([], [a], function))

    def grow(self):
        for _ in range(VALUES):
            self.dice.choice([self.compute, self.compute, self.predicate, self.switch, self.switch, self.merge, self.merge,
                              self.read, self.write if self.writes else self.read])()

    def alive_value(self, other):
        """One that is alive whatever the predicates say, often of one that is not."""
        name = self.pick()
        return name if self.alive[name] == ALWAYS else self.merge([name, other])

    def run(self, known):
        for names, uses, function in self.steps:
            given = [known[name] for name in uses]
            if function:
                results = [DEAD] * len(names) if DEAD in given else function(*given)
            else:
                living = [i for i, value in enumerate(given) if value is not DEAD][:1]
                results = [given[living[0]], living[0]] if living else [DEAD, DEAD]
            known.update(zip(names, results))
        return known


class Dual:
    """A number and its derivatives."""
    def __init__(self, value, slopes):
        self.value, self.slopes = value, slopes


class SmoothWeb(Web):
    """Of floats, which stay small."""
    writes_in_frames = False

    def compute(self):
        a, b, c = self.pick(), self.pick(), self.dice.randrange(1, 9) / 8
        mask, name = self.alive[a] & self.alive[b], self.name()
        if not mask:
            return
        text, function = self.dice.choice([
            (f'{a} * {c} - {b}', lambda x, y: Dual(x.value * c - y.value, x.slopes * c - y.slopes)),
            (f'sin({a} * {b})', lambda x, y: Dual(numpy.sin(x.value * y.value), numpy.cos(x.value * y.value) * (
                x.slopes * y.value + y.slopes * x.value)))])
        self.add([name], text, [a, b], lambda x, y: [function(x, y)])
        self.alive[name] = mask

    def predicate(self):
        if self.predicates == PREDICATES:
            return
        a, name, least = self.pick(), self.name(), self.dice.random()
        self.add([name], f'{a} > {least}', [a], lambda x: [x.value > least])
        self.decided[name] = self.alive[a], HOLDS[self.predicates]
        self.predicates += 1

    def merge(self, names=None):
        names = names or [self.pick() for _ in range(self.dice.choice([2, 2, 3]))]
        first, index = self.name(), self.name()
        self.add([first, index], f'merge({", ".join(names)})', names, None)
        self.alive[first] = 0
        for name in names:
            self.alive[first] |= self.alive[name]
        return first

    def read(self):
        a, w, name = self.pick(), self.dice.choice(list(self.state)), self.name()
        self.add([name], f'{a} - {w}', [a], lambda x: [Dual(x.value - self.state[w], x.slopes)])
        self.alive[name] = self.alive[a]

    def change(self, w, a, adds):
        def function(x):
            self.state[w] = self.state[w] * adds + x.value
            return []
        self.lines.append(f'{w} {"+=" if adds else ":="} {a}')
        self.steps.append(([], [a], function))


class Frame:
    """A loop whose body is a web: what it carries becomes what the web says, so many times. A variable may be changed
    before it is known whether there is another iteration, and one where that is known, whichever it is."""
    def __init__(self, web, number, starts, depth):
        dice, self.state = web.dice, web.state
        self.name, self.starts, self.times = f'frame{number}', starts, dice.randrange(4)
        own = [f'f{number}c{i}' for i in range(len(starts))]
        self.own, self.inside = own, [f'{name}in' for name in own]
        self.out = [f'{name}out' for name in own]
        changes = [None, None, *self.state] if web.writes_in_frames else [None]
        self.asked, self.late = (dice.choice(changes) for _ in range(2))
        self.web = type(web)(dice, self.inside, f'f{number}v', self.state)
        self.web.writes = web.writes_in_frames
        self.web.grow()
        if depth and dice.random() < 0.4:
            add_frame(self.web, f'{number}i', depth - 1)
            self.web.grow()
        self.next = [self.web.alive_value(name) for name in self.inside]

    def lines(self):
        counter, frame = f'{self.name}t', f'frame="{self.name}"'
        yield f'{counter}, _ = merge(enter(cast({self.starts[0]} * 0, i64), {frame}))'
        yield from (f'{own}, _ = merge(enter({start}, {frame}))' for own, start in zip(self.own, self.starts))
        if self.asked:
            yield f'{self.asked} += {self.own[0]}'
        yield f'{self.name}p = loop_cond({counter} < {self.times})'
        yield f'_, {counter}in = switch({counter}, {self.name}p)'
        yield from (f'{own}last, {inside} = switch({own}, {self.name}p)' for own, inside in zip(self.own, self.inside))
        yield from self.web.lines
        if self.late:
            yield f'{self.name}either, _ = merge({self.own[1]}last, {self.next[0]})'
            yield f'{self.late} := {self.name}either - {self.late}'
        yield f'next_iteration({counter}in + 1, {counter})'
        yield from (f'next_iteration({name}, {own})' for name, own in zip(self.next, self.own))
        yield from (f'{out} = leave({own}last)' for out, own in zip(self.out, self.own))

    def run(self, *values):
        for turn in range(self.times + 1):
            if self.asked:
                self.state[self.asked] = wrapped(self.state[self.asked] + values[0])
            either = values[1]
            if turn < self.times:
                known = self.web.run(dict(zip(self.inside, values)))
                values = [known[name] for name in self.next]
                either = values[0]
            if self.late:
                self.state[self.late] = wrapped(either - self.state[self.late])
        return list(values)


def add_frame(web, number, depth=1):
    """What a frame is entered with is alive together, and so is what it gives."""
    starts = [web.pick() for _ in range(2)]
    mask = web.alive[starts[0]]
    if mask != web.alive[starts[1]]:
        return
    frame = Frame(web, number, starts, depth)
    web.lines += frame.lines()
    web.steps.append((frame.out, starts, frame.run))
    web.alive.update(dict.fromkeys(frame.out, mask))


def random_web(seed):
    dice = random.Random(f'web {seed}')
    initial = {f's{i}': dice.randrange(9) for i in range(dice.choice([1, 2]))}
    web = Web(dice, ['a', 'b', 'c'], 'v', dict(initial))
    for number in range(dice.randrange(3)):
        web.grow()
        add_frame(web, number)
    web.grow()
    results = [web.alive_value('a') for _ in range(3)]
    outputs = {**{f'y{i}': name for i, name in enumerate(results)}, **{f'{name}_now': f'{name} + 0' for name in initial}}
    lines = ''.join(f'  {line}\n' for line in [*web.lines, *(f'{name} = {value}' for name, value in outputs.items())])
    states = ''.join(f'var {name}: i64[] = {value}\n' for name, value in initial.items())
    types = ', '.join(f'{name}: i64[]' for name in outputs)
    text = f'{states}entry main(a: i64[], b: i64[], c: i64[]) -> ({types}) {{\n{lines}}}\n'
    runs = tuple({name: dice.randrange(16) for name in 'abc'} for _ in range(4))

    def oracle(a, b, c):
        web.state.update(initial)
        known = web.run({'a': int(a), 'b': int(b), 'c': int(c)})
        return tuple(numpy.int64(value) for value in [*map(known.get, results), *web.state.values()])
    return Case(f'random_web_{seed}', text, oracle, runs, [], {}, TARGETS, 8)


def random_gradients(seed):
    dice = random.Random(f'smooth web {seed}')
    web = SmoothWeb(dice, ['a', 'b', 'c'], 'v', {'s0': 0.5})
    web.grow()
    for number in range(dice.choice([0, 1, 1, 2])):
        add_frame(web, number)
        web.grow()
    loss = web.alive_value('a')
    lines = ''.join(f'  {line}\n' for line in [*web.lines, f'y = {loss} + 0 * (a + b + c)', 'da, db, dc = grad(y, [a, b, c])'])
    types = 'y: f64[], da: f64[], db: f64[], dc: f64[]'
    text = f'var s0: f64[] = 0.5\nentry main(a: f64[], b: f64[], c: f64[]) -> ({types}) {{\n{lines}}}\n'
    runs = tuple({name: dice.uniform(-2, 2) for name in 'abc'} for _ in range(4))

    def oracle(a, b, c):
        web.state['s0'] = 0.5
        known = web.run({name: Dual(float(x), slope) for name, x, slope in zip('abc', (a, b, c), numpy.eye(3))})
        return known[loss].value, *known[loss].slopes
    return Case(f'random_gradients_of_web_{seed}', text, oracle, runs, [], {}, TARGETS, 64)
