"""An agent of Harbor's that answers, and then raises the exception that the instruction names."""

import importlib

from harbor.agents.base import BaseAgent

MODULES = ["harbor.agents.installed.base", "harbor.llms.base", "harbor.utils.optional_import", "litellm"]


def named(name: str) -> type[BaseException]:
    for module in MODULES:
        found = getattr(importlib.import_module(module), name, None)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return getattr(__builtins__, name, None) or type(name, (Exception,), {})


class Raising(BaseAgent):
    @staticmethod
    def name() -> str:
        return "raising"

    def version(self) -> str:
        return "1"

    async def setup(self, environment) -> None:
        pass

    async def run(self, instruction, environment, context) -> None:
        await environment.exec("echo 42 >/app/answer")
        context.n_input_tokens, context.n_output_tokens, context.cost_usd = 10, 5, 0.25
        kind = named(instruction.strip())
        try:
            error = kind("raised on purpose")
        except TypeError:  # it wants more than a message
            error = type(kind.__name__, (Exception,), {})("raised on purpose")
        raise error
