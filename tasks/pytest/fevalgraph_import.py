"""Has modules of the submission that tests import run in another process.

It is loaded with -p before the plugin that takes the key of the seal: without the key no test
runs, so the machine is believed that it cannot confine the submission's process.
"""

import importlib.machinery
import importlib.util
import os
import sys

from _pytest.assertion.rewrite import AssertionRewritingHook

NAME = "fevalgraph_separate"


def runtime():
    """Loads the package that starts the process, as stand-ins for modules do."""
    init = os.path.join(os.environ["FEVALGRAPH_SEPARATE"], NAME, "__init__.py")
    spec = importlib.util.spec_from_file_location(NAME, init, submodule_search_locations=[os.path.dirname(init)])
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])
    import fevalgraph_separate.grader
    return fevalgraph_separate.grader


grader = runtime()
grader.watch_imports(importlib.machinery.SourceFileLoader, AssertionRewritingHook)
grader.connect()
