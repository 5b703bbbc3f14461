"""The command line: one file per command, imported only when it is called."""

import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence

from comotion import __version__
from comotion.backend import disk
from comotion.errors import BadInput

COMMANDS = {
    "demo": "simulate three balls, fit, forecast, score and draw: about a minute",
    "simulate": "make a data set with a known truth",
    "validate": "check a data file and say what is in it",
    "identify": "say which laws the objects of a data file obey, if any",
    "fit": "learn from a data file how things move together",
    "predict": "forecast with a fitted model",
    "evaluate": "score a model or a forecast beside forecasts without a model",
    "report": "write a page that says how good a fitted model is and what it learned",
    "explore": "write a page in which the fitted model runs, to play with and to share",
    "reproduce": "make the paper's tables and figures again",
    "sweep": "search for the best values of config fields",
    "systems": "list the models there are and the parts they are made of",
    "doctor": "check that this computer has what it takes",
}

STOPPED = 130
PIPE_CLOSED = 141

HELP = """\
comotion {version}: learn how things move together, with honest uncertainty

usage: comotion COMMAND [OPTIONS]

{commands}

`comotion COMMAND --help` explains a command and gives examples. First steps:

  comotion demo
  comotion simulate bouncing-balls --sequences 100 --out balls.csv
  comotion simulate bouncing-balls --sequences 100 --seed 1 --out others.csv
  comotion fit balls.csv --split 0.8 --out runs/balls
  comotion predict runs/balls others.csv --out forecast.nc
  comotion evaluate forecast.nc others.csv
  comotion explore runs/balls others.csv --out balls.html

A data file is a table with the columns object, time, x, y or names like id, frame, pos_x (also
sequence, z, vx, …), long or wide, as text, .parquet, .nc or .npz. Exit codes: 0 all is well, 2 bad
input (one sentence says what to change), 1 anything else that failed, 130 stopped by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the number is the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know fewer letters than we use
    words = list(sys.argv[1:] if arguments is None else arguments)
    name, rest = (words[0], words[1:]) if words else ("--help", [])
    if name in ("-h", "--help", "help"):
        print(help_text())
        return 0
    if name in ("-V", "--version"):
        print(f"comotion {__version__}")
        return 0
    code = _outcome(name, rest)
    if work := sys.modules.get("comotion.train.interruptible"):
        _leave_at_once(code, work.is_work_left_behind())
    return code


def _leave_at_once(code: int, left_behind: bool) -> None:
    """A program that is being compiled would be torn down in the middle, with noise."""
    if left_behind:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _outcome(name: str, rest: list[str]) -> int:
    try:
        code = _run(name, rest)
        sys.stdout.flush()
        return code
    except BadInput as error:
        return _say(str(error), 2)
    except KeyboardInterrupt as error:
        return _say(str(error) or "stopped; files written before are whole", STOPPED)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return PIPE_CLOSED
    except OSError as error:
        return _say(_about_files(error), 2)
    except MemoryError as error:
        return _say(_about_memory(error), 1)
    except ArithmeticError as error:
        if not _is_known_failure(error):
            raise
        return _say(str(error), 1)


def help_text() -> str:
    commands = "\n".join(f"  {name:<10} {what}" for name, what in COMMANDS.items())
    return HELP.format(version=__version__, commands=commands)


def _run(name: str, arguments: list[str]) -> int:
    if name not in COMMANDS:
        raise BadInput(_no_such_command(name))
    from comotion.backend import cache
    from comotion.cli.arguments import parse

    command = importlib.import_module(f"comotion.cli.{name}")
    options = parse(command.Options, name, arguments)
    if options is None:
        return 0
    cache.enable()
    cache.mend_when_damaged()
    return command.run(options)


def _no_such_command(name: str) -> str:
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    guess = f" (did you mean {close[0]}?)" if close else ""
    return f"there is no command '{name}'{guess}; the commands are {', '.join(COMMANDS)}"


def _about_files(error: OSError) -> str:
    """A full disk or a place that may not be written to; what is not about files is unexpected."""
    if error.errno is None and error.filename is None:
        raise error
    return disk.about_files(error)


def _about_memory(error: MemoryError) -> str:
    asked = f" ({error})" if str(error) else ""
    return f"there is not enough memory{asked}; use fewer sequences, objects, draws or times"


def _is_known_failure(error: ArithmeticError) -> bool:
    from comotion.gp.linalg import ConditioningError
    from comotion.train.loop import TrainingDivergedError

    return isinstance(error, ConditioningError | TrainingDivergedError | OverflowError)


def _say(sentence: str, code: int) -> int:
    print(f"comotion: {sentence}", file=sys.stderr)
    return code
