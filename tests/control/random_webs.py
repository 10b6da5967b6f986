"""Random webs of switches and merges, in frames and in each other, which Python runs as the white paper says: a value is
dead where an input of what computes it is, and a merge gives the first that is not.

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
    def __init__(self, dice, names, prefix):
        self.dice, self.prefix, self.lines, self.steps, self.count, self.predicates = dice, prefix, [], [], 0, 0
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

    def grow(self):
        for _ in range(VALUES):
            self.dice.choice([self.compute, self.compute, self.predicate, self.switch, self.switch, self.merge])()

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


class Frame:
    """A loop whose body is a web: what it carries becomes what the web says, so many times."""
    def __init__(self, dice, number, starts):
        self.name, self.starts, self.times = f'frame{number}', starts, dice.randrange(4)
        own = [f'f{number}c{i}' for i in range(len(starts))]
        self.own, self.inside = own, [f'{name}in' for name in own]
        self.out = [f'{name}out' for name in own]
        self.web = Web(dice, self.inside, f'f{number}v')
        self.web.grow()
        self.next = [self.web.alive_value(name) for name in self.inside]

    def lines(self):
        counter, frame = f'{self.name}t', f'frame="{self.name}"'
        yield f'{counter}, _ = merge(enter(cast({self.starts[0]} * 0, i64), {frame}))'
        yield from (f'{own}, _ = merge(enter({start}, {frame}))' for own, start in zip(self.own, self.starts))
        yield f'{self.name}p = loop_cond({counter} < {self.times})'
        yield f'_, {counter}in = switch({counter}, {self.name}p)'
        yield from (f'{own}last, {inside} = switch({own}, {self.name}p)' for own, inside in zip(self.own, self.inside))
        yield from self.web.lines
        yield f'next_iteration({counter}in + 1, {counter})'
        yield from (f'next_iteration({name}, {own})' for name, own in zip(self.next, self.own))
        yield from (f'{out} = leave({own}last)' for out, own in zip(self.out, self.own))

    def run(self, *values):
        for _ in range(self.times):
            known = self.web.run(dict(zip(self.inside, values)))
            values = [known[name] for name in self.next]
        return list(values)


def add_frame(web, number):
    """What a frame is entered with is alive together, and so is what it gives."""
    starts = [web.pick() for _ in range(2)]
    mask = web.alive[starts[0]]
    if mask != web.alive[starts[1]]:
        return
    frame = Frame(web.dice, number, starts)
    web.lines += frame.lines()
    web.steps.append((frame.out, starts, frame.run))
    web.alive.update(dict.fromkeys(frame.out, mask))


def random_web(seed):
    dice = random.Random(f'web {seed}')
    web = Web(dice, ['a', 'b', 'c'], 'v')
    for number in range(dice.randrange(3)):
        web.grow()
        add_frame(web, number)
    web.grow()
    results = [web.alive_value('a') for _ in range(3)]
    lines = ''.join(f'  {line}\n' for line in [*web.lines, *(f'y{i} = {name}' for i, name in enumerate(results))])
    text = f'entry main(a: i64[], b: i64[], c: i64[]) -> (y0: i64[], y1: i64[], y2: i64[]) {{\n{lines}}}\n'
    runs = tuple({name: dice.randrange(16) for name in 'abc'} for _ in range(4))

    def oracle(a, b, c):
        known = web.run({'a': int(a), 'b': int(b), 'c': int(c)})
        return tuple(numpy.int64(known[name]) for name in results)
    return Case(f'random_web_{seed}', text, oracle, runs, [], {}, TARGETS, 8)
