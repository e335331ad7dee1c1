"""Not collected before the session's limit, however fast the machine is."""

import time

time.sleep(600)
