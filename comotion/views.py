"""Pictures, pages and scores of models, forecasts and laws, by the name of what makes them.

`report` and `scoring` stand above what they draw and score. For `model.explore(…)`,
`forecast.plot()`, `forecast.score(…)` and `law.plot()` the package's root puts them in this table,
to be imported when something is to be seen.
"""

from collections.abc import Callable
from typing import Any

VIEWS: dict[str, Callable[..., Any]] = {}
