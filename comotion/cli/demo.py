"""comotion demo"""

import dataclasses
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import arg

from comotion.cli.interrupt import Stopped, remembering_interrupts
from comotion.cli.output import as_json, note
from comotion.errors import BadInput
from comotion.jobs.clock import Clock

if TYPE_CHECKING:
    from comotion.config import Recipe
    from comotion.data import Trajectories
    from comotion.predict import FittedModel
    from comotion.predict.forecast import Forecast

DEMO_SYSTEM: dict[str, Any] = {
    "system": "comotion",
    "alone": "mirror",  # the walls are the same on all sides
}
DEMO_DATA: dict[str, Any] = {"sequences": 300, "objects": 3, "noise": "low", "seed": 0}
DEMO_DRAWS = 100

QUICK_SYSTEM: dict[str, Any] = DEMO_SYSTEM | {
    "inducing_alone": 10,
    "inducing_pair": 10,
    "fourier_features": 8,
    "contacts": "off",  # six sequences show too few collisions
}
QUICK_DATA: dict[str, Any] = DEMO_DATA | {"sequences": 18, "frames": 30}
QUICK_DRAWS = 10

MARKER = ".comotion-demo"
RUN = ("config.toml", "data.toml", "metrics.jsonl", "checkpoint", "model.safetensors")
RESULTS = ("test.csv", "scores.json", "forecast.png", "forecast.gif")
RESULTS += ("alone.png", "interaction.png", "report.html")


@dataclass(frozen=True)
class Options:
    """Simulate three bouncing balls, learn their law, forecast, score and draw.

    300 sequences are simulated with measurement noise: the first 100 to learn from, the last 100
    to be judged on. Those between are for choosing parts, which the demo does not do.
    The folder gets the model, scores.json, pictures, an animation and report.html, which shows
    all of it. Takes about a minute on two cores.

    Examples:
      comotion demo
      comotion demo --quick --out runs/quick
    """

    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/demo")
    """folder for the results; a demo that is there already is replaced, anything else is not"""
    quick: Annotated[bool, arg(help_behavior_hint="")] = False
    """a tiny version that learns next to nothing, to see whether everything works"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print scores and times as JSON instead of text"""


def run(options: Options) -> int:
    clear_folder(options.out)
    clock = Clock(note)
    train, test = _simulate(options, clock)
    with clock.phase("fit"):
        fitted = _fit(options, train)
    with clock.phase("forecast"):
        forecast = fitted.predict(test, draws=QUICK_DRAWS if options.quick else DEMO_DRAWS)
    with clock.phase("score"):
        fitted = _judged(options, fitted, forecast, train, test)
    with clock.phase("draw"):
        _draw(options, fitted, forecast, test)
    _tell(options, fitted, clock)
    return 0


def clear_folder(out: Path) -> None:
    """Removes what an earlier demo has made, and touches nothing else."""
    if out.exists() and not (out / MARKER).is_file() and (out.is_file() or any(out.iterdir())):
        raise BadInput(f"--out {out} holds something else than a demo; choose another folder")
    for path in (out / name for name in (*RUN, *RESULTS)):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).touch()


def _simulate(options: Options, clock: Clock) -> tuple["Trajectories", ...]:
    with clock.phase("simulate"):
        from comotion.data import write
        from comotion.simulate import bouncing_balls

        data = bouncing_balls(**(QUICK_DATA if options.quick else DEMO_DATA))
        train, _, test = data.split(*[len(data) // 3] * 3)
        write(test, options.out / "test.csv")
    return train, test


def _fit(options: Options, train: "Trajectories") -> "FittedModel":
    from comotion.train import fit

    choices = QUICK_SYSTEM if options.quick else DEMO_SYSTEM
    recipe = _quick_recipe() if options.quick else "short"
    with remembering_interrupts() as memory:
        fitted = fit(train, recipe=recipe, hold_out=0.0, out=options.out, **choices)
    if memory.interrupted:
        raise Stopped(f"stopped early; the model so far is {options.out / 'model.safetensors'}")
    return fitted


def _quick_recipe() -> "Recipe":
    from comotion.config import Recipe, Stage

    stages = (Stage(horizon=5, iterations=5, learning_rate=1e-2),)
    return Recipe(name="quick", stages=stages, windows=6)


def _judged(
    options: Options,
    fitted: "FittedModel",
    forecast: "Forecast",
    train: "Trajectories",
    test: "Trajectories",
) -> "FittedModel":
    """With its skill on the frames that were forecast, as every fit has it."""
    from comotion.predict.findings import Findings
    from comotion.scoring import evaluate
    from comotion.scoring.held_out import skill_of

    skill = skill_of(evaluate(forecast, test, train=train))
    scene = QUICK_DATA if options.quick else DEMO_DATA
    told = ", ".join(f"{name} = {value}" for name, value in scene.items())
    findings = Findings(skill, fitted.law.headline, (f"bouncing balls, {told}",))
    fitted = dataclasses.replace(fitted, findings=findings)
    fitted.save(options.out / "model.safetensors")
    return fitted


def _draw(
    options: Options, fitted: "FittedModel", forecast: "Forecast", test: "Trajectories"
) -> None:
    from comotion import report

    alone, interaction = fitted.law.plot()
    pictures = {"forecast": report.forecast_figure(forecast, test)}
    pictures |= {"alone": alone, "interaction": interaction}
    for name, figure in pictures.items():
        (options.out / f"{name}.png").write_bytes(report.figure_png(figure))
    film = options.out / "forecast.gif"
    report.animate(forecast.dataset, test, path=film, outline=fitted.outline)
    fitted.report(options.out / "report.html", test, title="Three bouncing balls")


def _tell(options: Options, fitted: "FittedModel", clock: Clock) -> None:
    results = dataclasses.asdict(fitted.findings) | {"seconds": clock.seconds}
    (options.out / "scores.json").write_text(as_json(results) + "\n")
    if options.json:
        print(as_json(results))
        return
    print(fitted.findings)
    print(f"\n{clock}")
    print(f"open {options.out / 'report.html'}")
    print(f"next: comotion evaluate {options.out} {options.out / 'test.csv'}")
