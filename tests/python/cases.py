"""Cases: decorated functions that end with an AssertionError, or any other exception, when something is wrong."""
import os
import sys
import tempfile
import traceback
import warnings

import leat

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(f'{ROOT}/tests')
from sampling import chosen, time_of  # noqa: E402
SANITIZED = bool(os.environ.get('LEAT_SANITIZED'))
_cases = []


class Skipped(Exception):
    pass


def case(function):
    _cases.append((f'{function.__module__}.{function.__name__}', function))
    return function


def model(text, **options):
    return leat.loads(text, 'test.leat', **{'threads': 1, 'cache': 'off', **options})


def raises(kind, says, function, *arguments, **named):
    """The exception, whose words have `says`."""
    try:
        function(*arguments, **named)
    except kind as error:
        assert says in str(error), f'{says!r} is not in {str(error)!r}'
        return error
    raise AssertionError(f'no {kind.__name__}')


def run():
    passed = failed = skipped = 0
    for name, function in chosen(_cases):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                warnings.filterwarnings('ignore', '.*was not restored', leat.Warning)
                with time_of(name):
                    function()
                passed += 1
            except Skipped as why:
                skipped += 1
                print(f'skipped {name}: {why}')
            except BaseException:  # KeyboardInterrupt, too
                failed += 1
                print(f'{name} failed')
                traceback.print_exc(file=sys.stdout)
            finally:
                os.chdir(before)
    print(f'python: {passed} passed, {failed} failed, {skipped} skipped')
    return failed != 0
