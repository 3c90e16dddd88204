# Says hello and never reads what it is asked.
import time

from asked import Adapter

adapter = Adapter()
adapter.say(adapter.hello)
time.sleep(3600)
