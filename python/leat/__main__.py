"""`python -m leat`: the `leat` program, as the command line has it."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = (f'{HERE}/bin/leat', f'{HERE}/../../leat')  # of a wheel; of a build


def main() -> None:
    program = next((place for place in PLACES if os.path.isfile(place)), None)
    if program is None:
        sys.exit('leat: the program was not installed with the package')
    os.execv(program, ['leat', *sys.argv[1:]])


if __name__ == '__main__':
    main()
