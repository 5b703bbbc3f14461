"""comotion report"""

import dataclasses
from dataclasses import dataclass

from comotion.cli.model import IntoRun, OwnData, RunOrModel, folder_of, kept_data, load_model
from comotion.cli.output import check_output
from comotion.cli.reading import ReadingOptions


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Write the report of a fitted model: one offline page.

    It begins with a sentence that says how far the forecasts can be trusted and what was learned;
    then the forecast in motion, skill by lead time, the law, and how to make it again. With DATA
    the skill is that on these data; otherwise it is that of the fit.

    Examples:
      comotion report runs/balls
      comotion report runs/balls others.csv --out others.html
    """

    model: RunOrModel
    """the folder of a run, or a model file"""
    data: OwnData = None
    """recordings to show and to score forecasts on: a data file, or a folder of them"""
    out: IntoRun = None
    """file to write, .html; an existing one is replaced"""


def run(options: Options) -> int:
    out = options.out or folder_of(options.model) / "report.html"
    check_output(out, (".html",))
    fitted = load_model(options.model)
    data = options.read(options.data or kept_data(options.model))
    if options.data is not None or not fitted.findings.skill.lead:
        from comotion.scoring.held_out import held_out_skill

        findings = dataclasses.replace(
            fitted.findings,
            skill=held_out_skill(fitted, data, data),
            learned=fitted.findings.learned or fitted.law.headline,
        )
        fitted = dataclasses.replace(fitted, findings=findings)
    fitted.report(out, data, title=f"Report of {options.model.resolve().name}")
    print(fitted.findings.sentence)
    print(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")
    return 0
