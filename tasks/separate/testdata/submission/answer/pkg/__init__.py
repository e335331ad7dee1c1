from .inner import inner
