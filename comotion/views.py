"""Pictures and pages of models, forecasts and laws, by the name of what makes them.

`report` stands above all that it draws. For `model.explore(…)`, `forecast.plot()` and `law.plot()`
the package's root puts it in this table, to be imported when something is to be seen.
"""

from collections.abc import Callable
from typing import Any

VIEWS: dict[str, Callable[..., Any]] = {}
