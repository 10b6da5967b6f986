"""What share of its cases a suite runs: the seed says which, $LEAT_EVERY asks for all."""
import os
import random

SANITIZED = 'LEAT_SANITIZED' in os.environ
EVERY = 'LEAT_EVERY' in os.environ
SEED = int(os.environ.get('LEAT_TEST_SEED', '1'), 0)


def sampled(cases, usual, slow, is_slow=SANITIZED):
    """One case of `usual`, with a slow build one of `slow`, in their order."""
    cases = list(cases)
    share = 1 if EVERY else slow if is_slow else usual
    return [cases[i] for i in sorted(random.Random(SEED).sample(range(len(cases)), -(-len(cases) // share)))]
